-- SPDX-License-Identifier: MPL-2.0

-- statement: state_settle_lock
-- Locks the workspace of the state version.
-- index: state_versions_pkey, workspaces_pkey
-- takes: state_id text
select 1
from workspaces
where id = (select workspace_id from state_versions where id = :state_id)
for no key update;

-- statement: state_settle_read
-- The state version and its content. No row: it is whole already, or its job has not ended.
-- takes: state_id text, most bigint
-- gives: blob_id text null, object_key text null, size bigint null, sealed bytea null, state_id text,
-- base_id text null, difference_sealed bytea null, status text, recovered boolean, rollback_id text null,
-- workspace_id text, run_id text null, job_id text null, created_by text null, at text, current boolean
:state_content_select(), s.status, s.recovered, s.rollback_id, s.workspace_id, s.run_id, s.job_id,
    s.created_by, s.created_at::text as at, w.current_state_id = s.id as current
from state_versions s
join workspaces w on w.id = s.workspace_id
:state_content_join()
where s.id = :state_id and not s.intermediate and x.blob_id is not null;

-- statement: state_settle_later
-- A state that can't be read is tried again in 10 minutes.
-- index: state_bases_pkey
-- takes: state_id text
update state_bases set look_at = now() + interval '10 minutes' where state_version_id = :state_id;

-- statement: state_settle_due
-- States with a base whose job has ended.
-- index: state_bases_pkey, state_versions_pkey
-- takes: max bigint
-- gives: id text
select s.id
from state_bases x
join state_versions s on s.id = x.state_version_id
where not s.intermediate and x.look_at <= now()
order by x.look_at
limit :max;
