-- SPDX-License-Identifier: MPL-2.0

-- fragment: workspace_row(workspace)
-- The columns of WORKSPACE_OF_ROW: they decide whether a run may begin in a workspace.
:workspace.current_run_id, :workspace.locked_by is not null as locked, :workspace.hold_job_id is not null as held,
    (select reason is not null from maintenance) as maintenance;

-- fragment: run_is_shown(r)
-- Whether lists and numbers of runs have the run `r`: assessments, queries and test runs are none of them
-- (run_is_hidden).
(not :r.assessment and not :r.query and not :r.test);

-- shape: run_place
-- id text, current_run_id text null, locked boolean, held boolean, maintenance boolean, now text,
-- watched boolean

-- fragment: run_places()
-- The workspaces of a decision, with the transaction's time.
select id, :workspace_row(workspaces),
    to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now,
    :workspace_is_watched(workspaces) as watched
from workspaces;

-- shape: run_loaded
-- id text, workspace_id text, organization_id text, pool_id text null, status text, stage text, stages integer,
-- plan_only boolean, assessment boolean, query boolean, test boolean, save_plan boolean, auto_apply boolean,
-- allow_empty_apply boolean,
-- has_changes boolean, queued boolean, underway boolean, stopping smallint, cooled_off boolean,
-- window_closed boolean, plan_is_stale boolean,
-- job_id text null, attempt integer, token_hash text null, losses integer, claimed boolean, started boolean,
-- lease_until timestamptz null, fetched boolean, source text, changed_seconds numeric

-- fragment: window_closed(r)
-- Whether applies may not start now in the workspace of the run. Most organizations have no windows.
case
    when not :r.plan_only
        and (select true from maintenance_windows m where m.organization_id = :r.organization_id limit 1)
        then (select closed from apply_window(:r.workspace_id))
    else false
end;

-- fragment: runs_loaded()
-- The columns of run_loaded: runs r with their inputs i, their workspaces w, their plans o and their jobs j. `fetched`
-- is read for runs with the stage fetch (bit 1) in the queue.
r.id, r.workspace_id, r.organization_id, i.pool_id, r.status, r.stage, r.stages, r.plan_only, r.assessment,
    r.query, r.test, r.save_plan, r.auto_apply, r.allow_empty_apply, r.has_changes, r.queued, r.underway, r.stopping,
    coalesce(r.force_cancel_available_at <= now(), false) as cooled_off,
    :window_closed(r) as window_closed,
    o.base_state_id is distinct from w.current_state_id as plan_is_stale,
    j.id as job_id, j.attempt, j.token_hash, cardinality(j.lost_with) as losses, j.state = 'claimed' as claimed,
    j.started, j.lease_until,
    case
        when r.queued and r.stages & 1 <> 0 then (
            select status = 'uploaded' from configuration_versions where id = i.configuration_version_id
        )
    end as fetched,
    i.source, extract(epoch from now() - r.updated_at) as changed_seconds
from runs r
join run_inputs i on i.run_id = r.id
join workspaces w on w.id = r.workspace_id
join operations o on o.id = 'plan' || substr(r.id, 4)
left join jobs j on j.run_id = r.id;

-- statement: runs_lock_leases
-- Locks the runs' claimed jobs, after their workspaces.
-- index: jobs_run_id_key
-- takes: run_ids text[]
-- gives: id text
with place as (
    select id
    from workspaces
    where id in (select workspace_id from runs where id = any(:run_ids::text[]))
    order by id
    for no key update
)
select id
from jobs
where run_id = any(:run_ids::text[]) and state = 'claimed' and (select count(*) from place) > 0
order by id
for no key update;

-- statement: run_places_of
-- Locks the runs' workspaces.
-- index: notification_configurations_project, notification_configurations_workspace
-- reads: maintenance
-- takes: run_ids text[]
-- gives: run_place
:run_places()
where id in (select workspace_id from runs where id = any(:run_ids::text[]))
order by id
for no key update;

-- statement: runs_load
-- Locks the runs.
-- index: jobs_run_id_key
-- takes: run_ids text[]
-- gives: run_loaded
select :runs_loaded() where r.id = any(:run_ids::text[]) order by r.id for no key update of r;

-- statement: run_places_load
-- Locks the workspaces.
-- index: notification_configurations_project, notification_configurations_workspace
-- reads: maintenance
-- takes: workspace_ids text[]
-- gives: run_place
:run_places() where id = any(:workspace_ids::text[]) order by id for no key update;

-- statement: runs_load_queues
-- Locks the runs that could proceed in each workspace: the first of its queue, and saved plans. The head of each
-- queue is enough: when it proceeds, the next decision loads its successor. Plan-only runs wait for the end of
-- maintenance alone, so they are loaded only while runs are resumed.
-- index: jobs_run_id_key, runs_queue, runs_saved
-- reads: maintenance
-- takes: workspace_ids text[]
-- gives: run_loaded
select :runs_loaded()
where r.id in (
    select h.id
    from unnest(:workspace_ids::text[]) u(id), lateral (
        select id
        from runs
        where workspace_id = u.id and queued and not plan_only
        order by position
        limit 1
    ) h
    union all
    select id
    from runs
    where workspace_id = any(:workspace_ids::text[]) and saved
    union all
    select p.id
    from unnest(:workspace_ids::text[]) u(id), lateral (
        select id
        from runs
        where workspace_id = u.id and queued and plan_only
        order by position
        limit 100
    ) p
    where (select is_resuming from maintenance)
)
order by r.id
for no key update of r;
