-- SPDX-License-Identifier: MPL-2.0

-- fragment: hold_columns()
-- Columns of the hold h, for HOLD_OF_ROW; null if there is none.
h.stop as hold_stop, h.engine_ended as hold_engine_ended, h.until < now() as hold_past_deadline,
    h.settled_at is not null as hold_settled, h.restored as hold_restored,
    exists (select 1 from unrecorded_resources hu where hu.job_id = h.job_id and hu.dismissed_at is null)
        as hold_unrecorded;

-- fragment: hold_join()
-- The current hold h of the workspace of a run r, if the run caused it.
left join workspace_holds h on h.run_id = r.id and h.until is not null
    and h.job_id = (select hold_job_id from workspaces where id = r.workspace_id);

-- statement: holds_begin
-- Begins the holds of an array of {job, event, engine_ended}, with their events. Jobs, workers and workspaces are read
-- by their primary keys; the jobs' ids are an array (db/db.h, "plans"). A waiting apply has no worker:
-- after a failover, its claim may be lost.
-- index: jobs_pkey, workers_pkey, workspaces_pkey
-- takes: holds jsonb
with begun as (
    insert into workspace_holds
        (job_id, workspace_id, run_id, worker, token_hash, until, attempt, worker_id, stop, engine_ended)
    select j.id, j.workspace_id, j.run_id, coalesce(w.name, j.worker_id, 'unknown'), coalesce(j.token_hash, ''),
        coalesce(j.deadline, 'infinity'), j.attempt, j.worker_id, j.stop, u.engine_ended
    from jsonb_to_recordset(:holds::jsonb) as u(job text, engine_ended boolean)
    join jobs j on j.id = u.job
        and j.id = any(array(select d.job from jsonb_to_recordset(:holds::jsonb) as d(job text)))
    left join workers w on w.id = j.worker_id
    on conflict (job_id) do nothing
    returning job_id, workspace_id, run_id, until
),
held as (
    update workspaces w
    set hold_job_id = b.job_id
    from begun b
    where w.id = b.workspace_id
    returning w.id, w.organization_id
),
noted as (
    insert into run_events (id, run_id, action, description)
    select u.event, b.run_id, 'workspace-held',
        'The workspace is held until the last state of the apply has arrived' || coalesce(
            ', or until ' || to_char(b.until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') ||
            ', when the worker must have ended terraform', '') || '.'
    from begun b
    join jsonb_to_recordset(:holds::jsonb) as u(job text, event text) on u.job = b.job_id
)
insert into audit_events
    (id, organization_id, actor_type, actor_name, request_id, action, resource_type, resource_id, workspace_id)
select gen_random_uuid(), organization_id, 'system', 'runyard-scheduler', gen_random_uuid(), 'hold',
    'workspace', id, id
from held;

-- statement: hold_event_add
-- Adds the event of a hold to its run.
-- takes: id text, run_id text, action text, description text, actor_id text
insert into run_events (id, run_id, action, description, actor_id)
values (:id, :run_id, :action, :description, :actor_id);

-- statement: hold_end
-- Ends the hold. Its row stays, so that a late state finds its run.
-- index: workspace_holds_pkey, workspaces_pkey
-- takes: workspace_id text, job_id text
with free as (update workspaces set hold_job_id = null where id = :workspace_id)
update workspace_holds
set until = null
where job_id = :job_id;

-- statement: hold_settle
-- Only a person can end the hold from now on.
-- index: workspace_holds_pkey
-- takes: job_id text
update workspace_holds set settled_at = coalesce(settled_at, now()) where job_id = :job_id;

-- statement: hold_stop
-- Asks the worker to stop the apply, and shows that in its run.
-- index: run_inputs_pkey, runs_pkey, workspace_holds_pkey
-- takes: job_id text, stop smallint, run_id text, actor_id text
with asked as (update workspace_holds set stop = :stop where job_id = :job_id),
shown as (
    update run_inputs set canceled_by = coalesce(canceled_by, :actor_id) where run_id = :run_id
)
update runs
set canceled_at = coalesce(canceled_at, now()),
    force_cancel_available_at = coalesce(force_cancel_available_at, now() + interval '10 seconds')
where id = :run_id;

-- statement: hold_lock
-- Locks a workspace, by its id or by its run, and its hold; no row if that is not the job's.
-- index: unrecorded_resources_job_id_digest_key
-- takes: workspace_id text, run_id text, job_id text
-- gives: job_id text, run_id text, workspace_id text, attempt integer null, token_hash text,
-- organization_id text, cooled_off boolean, hold_stop smallint null, hold_engine_ended boolean,
-- hold_past_deadline boolean, hold_settled boolean, hold_restored boolean, hold_unrecorded boolean
select h.job_id, h.run_id, h.workspace_id, h.attempt, h.token_hash, w.organization_id,
    coalesce(r.force_cancel_available_at <= now(), false) as cooled_off, :hold_columns()
from workspaces w
join workspace_holds h on h.job_id = w.hold_job_id
join runs r on r.id = h.run_id
where w.id = coalesce(:workspace_id, (select workspace_id from runs where id = :run_id))
    and (:run_id::text is null or h.run_id = :run_id)
    and (:job_id::text is null or h.job_id = :job_id)
for update of w, h;

-- statement: hold_of_token
-- The hold of an ended attempt, and whether the workspace is still held for it.
-- index: workspace_holds_pkey, workspaces_pkey
-- takes: job_id text, token_hash text
-- gives: job_id text, run_id text, workspace_id text, holds boolean
select h.job_id, h.run_id, h.workspace_id, coalesce(w.hold_job_id = h.job_id, false) as holds
from workspace_holds h
join workspaces w on w.id = h.workspace_id
where h.job_id = :job_id and h.token_hash = :token_hash;

-- statement: hold_forget
-- Deletes the hold unless the workspace is still held for it.
-- index: workspace_holds_pkey
-- reads: workspaces
-- takes: job_id text
delete from workspace_holds
where job_id = :job_id and not exists (select 1 from workspaces where hold_job_id = :job_id);

-- statement: holds_due
-- Holds whose deadline has passed, the oldest deadline first.
-- index: workspace_holds_until
-- takes: max bigint
-- gives: workspace_id text, job_id text
select h.workspace_id, h.job_id
from workspace_holds h
join workspaces w on w.id = h.workspace_id and w.hold_job_id = h.job_id
where h.until < now() and h.settled_at is null
order by h.until
limit :max;

-- statement: holds_alert
-- Marks holds that have lasted too long, and returns each once.
-- index: workspace_holds_until
-- takes: alert_seconds double precision, max bigint
-- gives: workspace_id text, run_id text, worker text, began_at timestamptz, until timestamptz null
update workspace_holds
set alerted_at = now()
where job_id in (
    select job_id
    from workspace_holds
    where until is not null and alerted_at is null
        and began_at < now() - make_interval(secs => :alert_seconds)
    order by began_at
    limit :max
    for update skip locked
)
returning workspace_id, run_id, worker, began_at, until;

-- statement: hold_of_workspace
-- The workspace and its hold, whose columns are null if there is none.
-- index: unrecorded_resources_job_id_digest_key
-- takes: workspace_id text
-- gives: workspace_id text, workspace text, organization_id text, organization text, run_id text null,
-- worker text null, since text null, until text null, cooled_off boolean, hold_stop smallint null,
-- hold_engine_ended boolean, hold_past_deadline boolean, hold_settled boolean, hold_restored boolean,
-- hold_unrecorded boolean
select w.id as workspace_id, w.name as workspace, w.organization_id,
    (select name from organizations o where o.id = w.organization_id) as organization, h.run_id, h.worker,
    to_char(h.began_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') as since,
    to_char(h.until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') as until,
    coalesce(r.force_cancel_available_at <= now(), false) as cooled_off, :hold_columns()
from workspaces w
left join workspace_holds h on h.job_id = w.hold_job_id
left join runs r on r.id = h.run_id
where w.id = :workspace_id;

-- statement: holds_list
-- All current holds, the oldest first. `until`: null if there is no deadline.
-- index: workspace_holds_until
-- gives: workspace_id text, workspace text, organization text, run_id text, worker text, began_at timestamptz,
-- until timestamptz null, stop smallint
select w.id as workspace_id, w.name as workspace, o.name as organization, h.run_id, h.worker, h.began_at,
    case when isfinite(h.until) then h.until end as until, h.stop
from workspaces w
join workspace_holds h on w.hold_job_id = h.job_id and w.id = h.workspace_id
join organizations o on o.id = w.organization_id
where h.until is not null
order by h.began_at;
