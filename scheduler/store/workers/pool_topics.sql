-- SPDX-License-Identifier: MPL-2.0

-- statement: pool_topics_read
-- All pools by their ids, with their waiting jobs, and whether a live worker reads the pool's topic. Waiting
-- jobs are counted in the index jobs_waiting. Each pool is looked up: a join of the sums would compare each
-- pool with each other.
-- index: jobs_waiting, workers_pool
-- gives: id text, name text, waiting bigint, is_read boolean
select p.id, :pool_label(o, p) as name,
    (select count(*) from jobs where pool_id = p.id and state = 'waiting') as waiting,
    (
        select true
        from workers
        where pool_id = p.id and left_at is null and partitions <> '{}'
            and seen_at > now() - interval '1 minute'
        limit 1
    ) is not null as is_read
from agent_pools p
left join organizations o on o.id = p.organization_id
order by p.id;

-- statement: pool_topics_announce
-- Announces the oldest waiting jobs of the pools again: as many as messages are missing, at most `max`, and
-- only those that were announced longer ago than `age`. Another scheduler may do the same: the update skips
-- jobs that it has just announced. Nothing is announced while earlier announcements of the pool can't be
-- published.
-- index: jobs_waiting
-- reads: outbox
-- takes: pools jsonb, prefix text, message_version integer, key_end text, max bigint
with lost as (
    select j.id, p.age
    from jsonb_to_recordset(:pools::jsonb) as p(pool text, lag bigint, age integer),
        lateral (
            select id, row_number() over (order by announced_at, id) as n, count(*) over () as waiting
            from jobs
            where pool_id = p.pool and state = 'waiting'
                and announced_at < now() - make_interval(secs => p.age)
        ) j
    where j.n <= least(j.waiting - p.lag, :max)
        and not exists (select 1 from outbox where topic = :prefix || p.pool)
),
again as (
    update jobs j
    set announced_at = now()
    from lost
    where j.id = lost.id and j.state = 'waiting'
        and j.announced_at < now() - make_interval(secs => lost.age)
    returning j.id, j.run_id, j.pool_id, j.class
)
insert into outbox (topic, key, payload)
select :prefix || pool_id, class || :key_end,
    json_build_object('v', :message_version::int, 'job', id, 'run', run_id)::text
from again;
