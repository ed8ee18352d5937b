-- SPDX-License-Identifier: MPL-2.0
-- Modules whose versions are published only after their tests have passed. Until then a version has its content and the
-- status reg_ingressing. It becomes reg_ingress_failed if they do not pass.
alter table registry_modules add column tests_required boolean not null default false;

alter table registry_module_versions add column test_run_id text references runs on delete set null; -- the last one
alter table registry_module_versions add column tests_error text; -- why the tests have not passed
create index registry_module_versions_test_run on registry_module_versions (test_run_id) where test_run_id is not null;
create index registry_module_versions_untested on registry_module_versions (created_at, id)
	where status = 'reg_ingressing' and test_run_id is null;
alter table registry_module_versions drop constraint registry_module_versions_status;
alter table registry_module_versions add constraint registry_module_versions_status
	check (status in ('pending', 'cloning', 'clone_failed', 'reg_ingressing', 'reg_ingress_failed', 'ok'));
alter table registry_module_versions drop constraint registry_module_versions_content;
alter table registry_module_versions add constraint registry_module_versions_content
	check (case when status in ('reg_ingressing', 'ok') then blob_id is not null else blob_id is null or status = 'reg_ingress_failed' end);

-- A version is inspected when it has its content, also before it is published.
drop index registry_module_versions_uninspected;
create index registry_module_versions_uninspected on registry_module_versions (id) where blob_id is not null and not inspected;
