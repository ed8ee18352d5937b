-- SPDX-License-Identifier: MPL-2.0

-- statement: unrecorded_compare_begin
-- Marks the job as compared; returns a row if it was not before.
-- index: workspace_holds_compared
-- takes: job_id text
update workspace_holds
set compared_at = now()
where job_id = :job_id and compared_at is null
returning 1;

-- statement: unrecorded_drop
-- Marks the job as compared, and deletes its open resources but those with these digests.
-- index: unrecorded_resources_job_id_digest_key
-- takes: job_id text, digests text[]
with compared as (update workspace_holds set compared_at = now() where job_id = :job_id)
delete from unrecorded_resources
where job_id = :job_id and dismissed_at is null and digest <> all (:digests::text[]);

-- statement: unrecorded_insert
-- Returns a row for each new resource.
-- takes: job_id text, run_id text, workspace_id text, ids text[], digests text[], actions text[],
-- addresses text[], types text[], providers text[], sealed_ids bytea[]
insert into unrecorded_resources
    (id, run_id, workspace_id, job_id, digest, action, address, type, provider, resource_id_sealed)
select u.id, :run_id, :workspace_id, :job_id, u.digest, u.action, u.address, u.type, u.provider, u.sealed
from unnest(
    :ids::text[], :digests::text[], :actions::text[], :addresses::text[], :types::text[], :providers::text[],
    :sealed_ids::bytea[]
) as u(id, digest, action, address, type, provider, sealed)
on conflict (job_id, digest) do nothing
returning 1;

-- statement: unrecorded_is_open
-- A row if the job has an open resource.
-- index: unrecorded_resources_job_id_digest_key
-- takes: job_id text
select 1 from unrecorded_resources where job_id = :job_id and dismissed_at is null limit 1;

-- statement: unrecorded_due
-- Lost applies whose reports have not been compared yet.
-- index: unrecorded_resources_job_id_digest_key, workspace_holds_compared
-- takes: max bigint
-- gives: job_id text, run_id text, workspace_id text
select h.job_id, h.run_id, h.workspace_id
from workspace_holds h
where h.compared_at is null
    and not exists (select 1 from unrecorded_resources u where u.job_id = h.job_id)
limit :max;

-- statement: unrecorded_state
-- The workspace's current state.
-- index: workspaces_pkey
-- takes: workspace_id text
-- gives: id text null
select current_state_id as id from workspaces where id = :workspace_id;

-- shape: unrecorded
-- id text, run_id text, workspace_id text, job_id text, digest text, action text, address text,
-- type text, provider text, resource_id_sealed bytea, dismissed_at timestamptz null, dismissed_by text null,
-- created_at timestamptz, organization_id text

-- fragment: unrecorded_resources()
select u.*, r.organization_id from unrecorded_resources u join runs r on r.id = u.run_id;

-- statement: unrecorded_of_run
-- The run's resources, the oldest first.
-- index: unrecorded_resources_run
-- takes: run_id text
-- gives: unrecorded
:unrecorded_resources() where u.run_id = :run_id order by u.created_at, u.address, u.id;

-- statement: unrecorded_view
-- One resource.
-- index: runs_pkey, unrecorded_resources_pkey
-- takes: id text
-- gives: unrecorded
:unrecorded_resources() where u.id = :id;

-- statement: unrecorded_lock
-- Locks the run's workspace, like every change of a hold.
-- index: runs_pkey, workspaces_pkey
-- takes: run_id text
select 1
from workspaces
where id = (select workspace_id from runs where id = :run_id)
for no key update;

-- statement: unrecorded_dismiss
-- Dismisses open resources of the run: those with these ids, separated by spaces, or all (null). Returns a row for
-- each.
-- index: unrecorded_resources_run
-- takes: run_id text, ids text, actor text
update unrecorded_resources
set dismissed_at = now(), dismissed_by = :actor
where run_id = :run_id and dismissed_at is null and (:ids::text is null or id = any (string_to_array(:ids, ' ')))
returning 1;

-- statement: unrecorded_released
-- The settled holds of the run that have no open resource any more.
-- index: unrecorded_resources_job_id_digest_key, workspace_holds_run
-- reads: workspaces
-- takes: run_id text
-- gives: workspace_id text, job_id text
select h.workspace_id, h.job_id
from workspace_holds h
join workspaces w on w.hold_job_id = h.job_id
where h.run_id = :run_id and h.settled_at is not null
    and not exists (
        select 1 from unrecorded_resources u where u.job_id = h.job_id and u.dismissed_at is null
    );
