-- SPDX-License-Identifier: MPL-2.0

-- shape: version_to_test
-- id text, module_id text, version text, blob_id text null

-- statement: version_test_pick
-- Locks the oldest version that waits for its test run.
-- index: registry_module_versions_untested
-- gives: version_to_test
select id, module_id, version, blob_id
from registry_module_versions
where status = 'reg_ingressing' and test_run_id is null
order by created_at, id
limit 1
for no key update skip locked;

-- statement: version_test_failed
-- Locks the version if its tests have ended, and it was not published.
-- index: registry_module_versions_pkey, runs_pkey
-- takes: id text
-- gives: version_to_test
select v.id, v.module_id, v.version, v.blob_id
from registry_module_versions v
where v.id = :id and v.blob_id is not null and (v.status = 'reg_ingress_failed' or (v.status = 'reg_ingressing'
                and exists (select 1 from runs r where r.id = v.test_run_id and r.ended)))
for no key update of v;

-- statement: version_test_begun
-- Lets the version wait for the end of the test run.
-- index: registry_module_versions_pkey
-- takes: id text, run_id text
update registry_module_versions
set status = 'reg_ingressing', test_run_id = :run_id, tests_error = null, updated_at = now()
where id = :id;

-- statement: version_test_refused
-- Ends a version whose tests can't be started.
-- index: registry_module_versions_untested
-- takes: id text, why text
update registry_module_versions
set status = 'reg_ingress_failed', tests_error = 'The tests can''t be started: ' || :why, updated_at = now()
where id = :id and status = 'reg_ingressing' and test_run_id is null;
