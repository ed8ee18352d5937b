-- SPDX-License-Identifier: MPL-2.0

-- fragment: status_time(time)
-- A time as JSON's readers expect it.
to_char(:time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');

-- statement: site_status_processes
-- The kinds and versions of the processes that were seen within the last minute.
-- reads: notifiers, schedulers, workers
-- gives: kind text null, version text null, count bigint, seen_at text
select kind, version, count(*) as count, :status_time(max(seen_at)) as seen_at
from processes
where seen_at > now() - interval '1 minute'
group by kind, version
order by kind, version;

-- statement: site_status_pools
-- Pools with jobs, live workers, or that are drained; those with most waiting jobs first.
-- index: run_quotas_pool_id_key, workers_pool
-- reads: jobs
-- takes: max_pools bigint
-- gives: pool text, waiting bigint, running bigint, oldest_seconds numeric null, workers bigint, slots bigint,
-- free bigint, drained_at text null, run_limit integer null
select :pool_label(o, p) as pool, coalesce(j.waiting, 0) as waiting,
    coalesce(j.running, 0) as running, round(extract(epoch from now() - j.oldest)) as oldest_seconds,
    coalesce(k.workers, 0) as workers, coalesce(k.slots, 0) as slots, coalesce(k.free, 0) as free,
    :status_time(p.drained_at) as drained_at, q.runs as run_limit
from agent_pools p
left join organizations o on o.id = p.organization_id
left join run_quotas q on q.pool_id = p.id
left join (
    select pool_id, count(*) filter (where state = 'waiting') as waiting,
        count(*) filter (where state = 'claimed') as running,
        min(created_at) filter (where state = 'waiting') as oldest
    from jobs
    group by 1
) j on j.pool_id = p.id
left join (
    select pool_id, count(*) as workers, sum(slots) as slots, sum(free) as free
    from workers
    where left_at is null and seen_at > now() - interval '1 minute'
    group by 1
) k on k.pool_id = p.id
where j.pool_id is not null or k.pool_id is not null or p.drained_at is not null
order by waiting desc, pool
limit :max_pools;

-- statement: site_status_totals
-- Numbers of the whole site, and the run that waits longest for a worker or its turn.
-- index: jobs_waiting, runs_position, workspace_holds_until
-- reads: dead_letters, outbox
-- gives: outbox bigint, outbox_seconds numeric null, dead_letters bigint, holds bigint,
-- oldest_run text null
select (select count(*) from outbox) as outbox,
    (select round(extract(epoch from now() - min(created_at))) from outbox) as outbox_seconds,
    (select count(*) from dead_letters where replayed_at is null and not discarded) as dead_letters,
    (select count(*) from workspace_holds where until is not null) as holds,
    coalesce((select run_id from jobs where state = 'waiting' order by created_at, id limit 1),
            (select id from runs where queued order by position limit 1)) as oldest_run;
