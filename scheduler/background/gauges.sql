-- SPDX-License-Identifier: MPL-2.0

-- statement: gauges_pools
-- One row per pool: its name, its waiting and running jobs, the age of its oldest waiting job, its workers and
-- their slots. Scans each table once, however many pools there are. While the quotas leave room for no waiting
-- job of the pool, none of its slots is free.
-- index: jobs_claimed, jobs_waiting, workers_pool, workspace_holds_until
-- reads: run_quotas
-- gives: pool text, waiting double precision, running double precision, wanted double precision,
-- oldest double precision, slots double precision, free double precision, draining_slots double precision,
-- live double precision, draining double precision, silent double precision, undelivered double precision
with :waiting_jobs()
select :pool_label(o, p) as pool, coalesce(j.waiting, 0)::float8 as waiting,
    coalesce(b.running, 0)::float8 as running,
    (coalesce(b.running, 0) + case when p.drained_at is null then coalesce(j.startable, 0) else 0 end)::float8
        as wanted,
    coalesce(extract(epoch from now() - j.oldest), 0)::float8 as oldest, coalesce(w.slots, 0)::float8 as slots,
    (case when coalesce(j.startable, least(rp.room, ro.room), 1) > 0 then coalesce(w.free, 0) else 0 end)::float8
        as free,
    coalesce(w.draining_slots, 0)::float8 as draining_slots, coalesce(w.live, 0)::float8 as live,
    coalesce(w.draining, 0)::float8 as draining, coalesce(w.silent, 0)::float8 as silent,
    coalesce(u.count, 0)::float8 as undelivered
from agent_pools p
left join organizations o on o.id = p.organization_id
left join waiting j on j.pool_id = p.id
left join rooms rp on rp.owner = p.id
left join rooms ro on ro.owner = p.organization_id
left join (select pool_id, sum(running) as running from busy group by 1) b on b.pool_id = p.id
left join (
    select pool_id, sum(slots) filter (where not silent) as slots,
        sum(free) filter (where not silent and not draining) as free,
        sum(slots) filter (where not silent and draining) as draining_slots,
        count(*) filter (where not silent and not draining) as live,
        count(*) filter (where not silent and draining) as draining,
        count(*) filter (where silent) as silent
    from (
        select k.pool_id, k.slots, k.free, k.draining or not :worker_may_claim(k, kp) as draining,
            k.seen_at <= now() - interval '1 minute' as silent
        from workers k
        join agent_pools kp on kp.id = k.pool_id
        where k.left_at is null
    ) w
    group by 1
) w on w.pool_id = p.id
left join (
    select k.pool_id, count(distinct k.name) as count
    from workers k
    where k.undelivered > 0 or exists (select 1 from workspace_holds h where :worker_is_awaited(k, h))
    group by 1
) u on u.pool_id = p.id
order by :pool_label(o, p) collate "C";

-- statement: gauges_capacity
-- Records since when each pool with waiting jobs has a free slot for one.
-- index: jobs_claimed, jobs_waiting, workers_pool
-- reads: run_quotas
with :waiting_jobs()
insert into pool_capacity as c(pool_id, free_since)
select p.id, case when j.startable > 0
    and exists (
        select 1
        from workers w
        where w.pool_id = p.id and w.free > 0 and not w.draining and w.left_at is null
            and w.seen_at > now() - interval '1 minute' and :worker_may_claim(w, p)
    ) then now() end
from waiting j
join agent_pools p on p.id = j.pool_id
on conflict (pool_id) do update set free_since = excluded.free_since
where (c.free_since is null) <> (excluded.free_since is null);

-- statement: gauges_site
-- One row per value: its kind, its labels, the value. Labels are the product's own words, but for the versions
-- of processes. A worker can register with any text: an unusual one is "other", a missing one "unknown". There
-- are at most 50 versions. Runs that have not ended are read in the index runs_live, run tasks in
-- task_results_waiting, _leases and _due, notifications in notifications_waiting, holds in
-- workspace_holds_until, the oldest message by the primary key. The other tables are small.
-- index: git_jobs_waiting, notifications_waiting, runs_live, schedules_check, task_results_due,
-- task_results_leases, task_results_waiting, workspaces_assess, workspaces_drifted
-- reads: agent_pools, assessments, database_history, maintenance, notifiers, schedulers, sealing_keys, vcs_calls,
-- workers
-- takes: hold_alert_seconds double precision
-- gives: kind text, labels text, value numeric
select 'run' as kind, 'status="' || status || '"' as labels, count(*)::numeric as value
from runs r
where not ended and :run_is_shown(r)
group by status
union all (
    select 'process', 'kind="' || kind || '",version="' || version || '"', count(*)
    from (
        select kind, case when version = '' then 'unknown'
            when version ~ '^[0-9A-Za-z.+~_-]{1,40}$' then version else 'other' end as version
        from processes
        where seen_at > now() - interval '2 minutes'
    ) p
    group by kind, version
    order by count(*) desc
    limit 50
)
union all (
    -- The assessments of each pool that has any.
    select a.kind, 'pool="' || :pool_label(o, p) || '"', a.value
    from (
        select unnest(array['assessments_due', 'assessments_late']) as kind, pool_id,
            unnest(array[count(*), count(*) filter (where assess_at < now() - interval '6 hours')]) as value
        from workspaces
        where assess_at <= now()
        group by pool_id
        union all
        select 'assessments_running', pool_id, count(*)
        from assessments
        group by pool_id
        union all
        select 'assessments_drifted', pool_id, count(*)
        from workspaces
        where drifted
        group by pool_id
    ) a
    join agent_pools p on p.id = coalesce(a.pool_id, (select id from agent_pools where organization_id is null))
    left join organizations o on o.id = p.organization_id
)
union all
select 'key', 'key="' || number || '"', extract(epoch from first_used_at)
from sealing_keys
where first_used_at is not null
union all
select 'maintenance', '', (reason is not null)::int
from maintenance
union all
select 'backup', '', extract(epoch from backup_at)
from database_history
where backup_at is not null
union all
select 'outbox', '', count(*)
from outbox
union all
select 'outbox_oldest', '',
    coalesce(
        (select extract(epoch from clock_timestamp() - created_at) from outbox order by id limit 1), 0)
union all
select 'task', '',
    (select count(*) from task_results where delivery = 'waiting') + (
        select count(*) from task_results where delivery = 'claimed'
    ) + (select count(*) from task_results where delivery = 'acknowledged')
union all
select 'backlog', '',
    (select count(*) from task_results where delivery = 'waiting') + (
        select count(*) from notifications where delivery = 'waiting'
    )
union all
select unnest(array['vcs', 'vcs_oldest']), 'kind="deliveries"',
    unnest(array[count(*), coalesce(greatest(extract(epoch from now() - min(received_at)), 0), 0)])
from vcs_deliveries
where state = 'waiting'
union all
select unnest(array['vcs', 'vcs_oldest']), 'kind="events"',
    unnest(array[count(*), coalesce(greatest(extract(epoch from now() - min(created_at)), 0), 0)])
from vcs_events
where state in ('waiting', 'looking', 'comparing')
union all
select unnest(array['vcs', 'vcs_oldest']), 'kind="git"',
    unnest(array[count(*), coalesce(greatest(extract(epoch from now() - min(created_at)), 0), 0)])
from git_jobs
where state = 'waiting' and kind <> 'look'
union all
select unnest(array['vcs', 'vcs_oldest']), 'kind="calls"',
    unnest(array[count(*), coalesce(greatest(extract(epoch from now() - min(created_at)), 0), 0)])
from vcs_calls
union all
select unnest(array['vcs', 'vcs_oldest']), 'kind="statuses"',
    unnest(array[count(*), coalesce(greatest(extract(epoch from now() - min(due_at)), 0), 0)])
from vcs_reports
where sent_version < version
union all
select unnest(array['vcs', 'vcs_oldest']), 'kind="comments"',
    unnest(array[count(*), coalesce(greatest(extract(epoch from now() - min(due_at)), 0), 0)])
from vcs_comments
where sent_version < version
union all
select unnest(array['schedules_due', 'schedules_late']), '',
    unnest(array[count(*), count(*) filter (where next_at < now() - interval '5 minutes')])
from schedules
where check_at <= now()
union all
select unnest(array['held', 'held_long']), '',
    unnest(array[count(*), count(*) filter
                (where began_at < now() - make_interval(secs => :hold_alert_seconds))])
from workspace_holds
where until is not null
union all
select 'schema', 'of="database"', max(split_part(name, '_', 1)::int)
from schema_migrations;
