-- SPDX-License-Identifier: MPL-2.0

-- fragment: queue_live()
-- Numbers of the current runs `r` that match the conditions which follow. Assessments and queries are no runs,
-- here and below.
count(*) filter (where r.queued or j.state = 'waiting') as pending,
    count(*) filter (where j.state = 'claimed') as running,
    count(*) filter (where not r.queued
            and (r.status in ('planned_and_saved', 'policy_override') or r.stage = 'confirm' and not r.underway))
        as deciding,
    coalesce(extract(epoch from now() - min(
                case when r.queued then r.created_at when j.state = 'waiting' then j.created_at end)), 0)
        as oldest_seconds
from runs r
left join jobs j on j.run_id = r.id
where not r.ended and :run_is_shown(r);

-- fragment: queue_starts(condition)
-- The times from creation to the plan's start of the runs whose plan started in the last hour, of the newest
-- 5,000.
percentile_cont(0.5) within group (order by seconds) as start_p50,
    percentile_cont(0.95) within group (order by seconds) as start_p95
from (
    select organization_id, extract(epoch from started_at - created_at)::float8 as seconds
    from (
        select organization_id, created_at, (status_timestamps ->> 'planning-at')::timestamptz as started_at
        from runs r
        where :condition and :run_is_shown(r)
        order by position desc
        limit 5000
    ) n
    where started_at > now() - interval '1 hour'
) s;

-- fragment: queue_errors(condition)
-- The number of runs that failed in the last hour.
count(*) filter (where status = 'errored') as errors
from runs r
where ended_at > now() - interval '1 hour' and :run_is_shown(r) and :condition;

-- fragment: queue_slots(condition)
-- The slots of the live workers of pools `p`.
(
    select coalesce(sum(k.slots), 0)
    from workers k
    join agent_pools p on p.id = k.pool_id
    where :condition and k.left_at is null and k.seen_at > now() - interval '1 minute'
);

-- statement: queue_sample_any
-- A row if there is a sample of this minute.
select 1 from queue_samples where organization_id = '' and taken_at = date_trunc('minute', now());

-- statement: queue_sample_take
-- Takes a sample of the site, '', and of each organization with runs. Deletes the samples of the day before.
-- index: jobs_run_id_key, queue_samples_taken, runs_ended, runs_live, runs_position, workers_pool
with live as (
    select coalesce(r.organization_id, '') as organization_id, :queue_live() and true
    group by grouping sets((r.organization_id), ())
),
started as (
    select coalesce(organization_id, '') as organization_id, :queue_starts(true)
    group by grouping sets((organization_id), ())
),
ended as (
    select coalesce(organization_id, '') as organization_id, :queue_errors(true)
    group by grouping sets((organization_id), ())
),
old as (delete from queue_samples where taken_at < now() - interval '25 hours')
insert into queue_samples (
    organization_id, taken_at, pending, running, deciding, slots, oldest_seconds, start_p50, start_p95, errors)
select o.organization_id, date_trunc('minute', now()), coalesce(pending, 0), coalesce(running, 0),
    coalesce(deciding, 0),
    :queue_slots((o.organization_id = '' or coalesce(p.organization_id, o.organization_id) = o.organization_id))
        as slots,
    coalesce(oldest_seconds, 0), start_p50, start_p95, coalesce(errors, 0)
from (
    select organization_id
    from live
    union
    select organization_id
    from started
    union
    select organization_id
    from ended
) o
left join live using (organization_id)
left join started using (organization_id)
left join ended using (organization_id)
on conflict do nothing;

-- statement: queue_samples_read
-- The samples of the last day, the oldest first.
-- index: queue_samples_pkey
-- takes: organization_id text
-- gives: minute bigint, pending integer, running integer, deciding integer, slots integer,
-- oldest_seconds double precision, start_p50 double precision null, start_p95 double precision null,
-- errors integer
select extract(epoch from taken_at)::bigint as minute, pending, running, deciding, slots, oldest_seconds,
    start_p50, start_p95, errors
from queue_samples
where organization_id = :organization_id and taken_at > now() - interval '24 hours'
order by taken_at
limit 1440;

-- shape: queue_numbers
-- pending bigint, running bigint, deciding bigint, oldest_seconds numeric, start_p50 double precision null,
-- start_p95 double precision null, errors bigint, slots bigint, outbox bigint optional,
-- outbox_seconds numeric optional, notifier_backlog bigint optional

-- statement: queue_numbers_of_organization
-- The organization's numbers now.
-- index: jobs_run_id_key, runs_live, runs_organization, workers_pool
-- takes: organization_id text
-- gives: queue_numbers
select l.*, s.*, e.*,
    :queue_slots(coalesce(p.organization_id, :organization_id) = :organization_id) as slots
from (select :queue_live() and r.organization_id = :organization_id) l,
    (select :queue_starts(r.organization_id = :organization_id)) s,
    (select :queue_errors(r.organization_id = :organization_id)) e;

-- statement: queue_numbers_of_site
-- The site's numbers now, with those of messages.
-- index: jobs_run_id_key, notifications_waiting, runs_ended, runs_live, runs_position, task_results_waiting
-- gives: queue_numbers
select l.*, s.*, e.*, :queue_slots(true) as slots, (select count(*) from outbox) as outbox,
    coalesce((select extract(epoch from clock_timestamp() - created_at) from outbox order by id limit 1), 0)
        as outbox_seconds,
    (select count(*) from task_results where delivery = 'waiting') +
        (select count(*) from notifications where delivery = 'waiting') as notifier_backlog
from (select :queue_live() and true) l, (select :queue_starts(true)) s, (select :queue_errors(true)) e;

-- statement: queue_pools
-- The first 200 pools of the organization and the shared one, or all, by name: their live workers and jobs.
-- index: jobs_claimed, jobs_waiting, workers_pool
-- reads: agent_pools
-- takes: organization_id text
-- gives: id text, name text, shared boolean, drained boolean, workers bigint, slots bigint, busy bigint,
-- waiting bigint
select p.id, p.name, p.organization_id is null as shared, p.drained_at is not null as drained, k.workers,
    k.slots, (select count(*) from jobs j where j.pool_id = p.id and j.state like 'claimed') as busy,
    (
        select count(*)
        from jobs j
        where j.pool_id = p.id and j.state = 'waiting'
            and (:organization_id::text is null or j.organization_id = :organization_id)
    ) as waiting
from agent_pools p
cross join lateral (
    select count(*) as workers, coalesce(sum(slots), 0) as slots
    from workers w
    where w.pool_id = p.id and w.left_at is null and w.seen_at > now() - interval '1 minute'
) k
where :organization_id::text is null or coalesce(p.organization_id, :organization_id) = :organization_id
order by p.name, p.id
limit 200;

-- statement: queue_tasks
-- The first 200 run tasks that have not reported and that the requester sees, the most urgent first. Each part
-- of the union reads an index of its state.
-- index: task_results_due, task_results_leases, task_results_waiting, team_members_user, team_projects_team,
-- team_workspaces_team
-- takes: organization_id text, everywhere boolean, user text
-- gives: id text, run_id text, workspace_name text, task_name text, stage text, status text, sent boolean,
-- created_at timestamptz, due_at timestamptz
select t.id, t.run_id, w.name as workspace_name, t.task_name, t.stage, t.status,
    t.delivery = 'acknowledged' as sent, t.created_at, coalesce(t.due_at, t.give_up_at) as due_at
from (
    select *
    from task_results
    where delivery = 'waiting'
    union all
    select *
    from task_results
    where delivery = 'claimed'
    union all
    select *
    from task_results
    where delivery = 'acknowledged'
) t
join runs r on r.id = t.run_id
join workspaces w on w.id = r.workspace_id
where (:organization_id::text is null or r.organization_id = :organization_id)
    and :runs_in_scope(:everywhere, :user, r.workspace_id)
order by due_at, t.id
limit 200;

-- statement: queue_pending
-- One page of the pending runs that the requester sees, in the order of the queue.
-- index: jobs_run_id_key, runs_live, team_members_user, team_projects_team, team_workspaces_team,
-- workspaces_project
-- takes: organization_id text, everywhere boolean, user text, limit bigint, offset bigint
-- gives: total bigint, id text, position bigint, workspace_id text, workspace_name text,
-- organization_name text, status text, message text null, created_at timestamptz
with found as (
    select r.*
    from runs r
    left join jobs j on j.run_id = r.id
    where not r.ended and :run_is_shown(r)
        and (:organization_id::text is null or r.organization_id = :organization_id)
        and (r.queued or j.state = 'waiting') and :runs_in_scope(:everywhere, :user, r.workspace_id)
)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    select r.id, r.position, r.workspace_id, w.name as workspace_name, o.name as organization_name,
        r.status, i.message, r.created_at
    from found r
    join workspaces w on w.id = r.workspace_id
    join organizations o on o.id = r.organization_id
    join run_inputs i on i.run_id = r.id
    order by r.position
    limit :limit
    offset :offset
) f on true
order by f.position;
