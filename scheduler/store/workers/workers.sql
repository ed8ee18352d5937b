-- SPDX-License-Identifier: MPL-2.0

-- fragment: worker_told(number, topic, worker, pool, status)
-- Announces on runyard.events that a worker of the pool changed its status.
told as (
    insert into outbox (id, topic, key, payload)
    select :number, :topic, p.id,
        json_build_object(
            'v', 1, 'worker', :worker, 'pool', p.id, 'organization', p.organization_id, 'status', :status)::text
    from agent_pools p
    where p.id = :pool
    returning key, payload
);

-- fragment: worker_of_pool(worker, pool)
-- The worker with that id, unless it is not (or no longer) registered in the pool. It is looked up by its id: a
-- condition on the pool could read all workers of the pool.
select *
from (select id, pool_id, free, ordered, left_at, capabilities from workers where id = :worker limit 1) k
where pool_id = :pool and left_at is null;

-- fragment: job_kind(j)
-- The kind of job `j` that workers accept or refuse (--accept): its stage, or assessment (class 3), or query or test.
case when :j.class = 3 then 'assessment' else coalesce(substring(:j.needs from '^(query|test) '), :j.stage) end;

-- fragment: worker_takes(k, kind)
-- Whether the worker `k` takes jobs of the kind: it has no capability such as "no apply" (proto/capabilities.h). A
-- worker of an earlier version has no capabilities, and takes all.
(not coalesce(:k.capabilities ? ('no ' || :kind), false));

-- fragment: worker_is_awaited(k, h)
-- Whether the hold `h` waits for the last state of an apply of the worker `k`.
(:h.worker_id = :k.id and :h.until is not null and :h.settled_at is null);

-- shape: worker_message
-- key text null, payload text null

-- statement: worker_register
-- Registers a worker, and renews the leases of the attempts that it continues. Earlier workers with its name no
-- longer count what is undelivered: it has their folder.
-- index: workers_pool
-- takes: id text, pool_id text, name text, version text, slots integer, address text, hash text, token_id text,
-- attempts jsonb, lease_seconds double precision, capabilities jsonb, protocol integer, number bigint,
-- topic text
-- gives: worker_message
with said as (
    select job, attempt, hash
    from jsonb_to_recordset(:attempts::jsonb) as u(job text, attempt bigint, hash text)
),
mine as (
    select j.id
    from said
    join jobs j on j.id = said.job and j.attempt = said.attempt
    where j.id = any(array(select job from said)) and j.pool_id = :pool_id and j.state = 'claimed'
        and j.token_hash = said.hash
    order by j.id
    for no key update of j
),
kept as (
    update jobs j
    set worker_id = :id, lease_until = now() + make_interval(secs => :lease_seconds)
    where j.id = any(array(select id from mine))
),
earlier as (
    update workers set undelivered = 0 where pool_id = :pool_id and name = :name and undelivered > 0
),
:worker_told(:number::bigint, :topic::text, :id::text, :pool_id, 'registered')
insert into workers (
    id, pool_id, name, version, slots, free, address, token_hash, token_id, capabilities, protocol,
        token_description)
values (:id, :pool_id, :name, :version, :slots, :slots, :address, :hash, :token_id, :capabilities::jsonb,
        :protocol, (select description from tokens where id = :token_id))
returning (select key from told) as key, (select payload from told) as payload;

-- statement: worker_find
-- The registered worker with that token.
-- index: workers_token
-- takes: hash text
-- gives: id text
select id from workers where token_hash = :hash and left_at is null;

-- statement: worker_beat
-- Returns one row for each job, at least one. The first row has the announced jobs that no longer wait. Only
-- jobs that the worker names are read (db/db.h, "plans").
-- index: workers_token
-- takes: hash text, free integer, slots integer, draining boolean, partitions jsonb, jobs jsonb,
-- lease_seconds double precision, capabilities jsonb, announced text[], undelivered integer, number bigint,
-- topic text
-- gives: ordered text null, job text null, attempt integer, held boolean, awaited boolean, stop integer,
-- not_waiting jsonb null, key text null, payload text null
with was as (select draining from workers where token_hash = :hash and left_at is null),
beat as (
    update workers
    set free = :free, slots = :slots, draining = :draining, seen_at = now(), undelivered = :undelivered,
        partitions = array(select jsonb_array_elements_text(:partitions::jsonb)::int),
        capabilities = :capabilities::jsonb
    where token_hash = :hash and left_at is null
    returning id, pool_id, ordered
),
:worker_told(
    :number::bigint, :topic::text, (select id from beat),
    any(array(select b.pool_id from beat b, was where was.draining <> :draining)),
    case when :draining then 'draining' else 'ready' end),
said as (
    select job, attempt from jsonb_to_recordset(:jobs::jsonb) as u(job text, attempt integer)
),
mine as (
    select j.id
    from beat, said
    join jobs j on j.id = said.job and j.attempt = said.attempt
    where j.id = any(array(select job from said)) and j.worker_id = beat.id and j.state = 'claimed'
    order by j.id
    for no key update of j
),
held as (
    update jobs j
    set lease_until = now() + make_interval(secs => :lease_seconds)
    where j.id = any(array(select id from mine))
    returning j.id, j.stop
)
select (select :worker_order(b, p) from beat b join agent_pools p on p.id = b.pool_id) as ordered,
    said.job, said.attempt, held.id is not null as held, h.job_id is not null as awaited,
    coalesce(held.stop, case when h.attempt = said.attempt then h.stop end, 0) as stop,
    case when row_number() over () = 1 then (
            select jsonb_agg(u.id)
            from unnest(:announced::text[]) as u(id)
            where (
                select k.state = 'waiting' and k.pool_id = (select pool_id from beat)
                from jobs k
                where k.id = u.id
            ) is not true
        ) end as not_waiting,
    (select key from told) as key, (select payload from told) as payload
from (select 1) one
left join said on true
left join held on held.id = said.job
left join workspace_holds h on h.job_id = said.job;

-- statement: worker_leave
-- Marks the worker as gone.
-- index: agent_pools_pkey, workers_pkey
-- takes: worker_id text, failed boolean, number bigint, topic text, undelivered integer
-- gives: worker_message
with gone as (
    update workers
    set left_at = now(), seen_at = now(), failed = :failed, draining = true, free = 0, partitions = '{}',
        undelivered = :undelivered
    where id = :worker_id and left_at is null
    returning pool_id
),
:worker_told(:number::bigint, :topic::text, :worker_id::text, any(array(select pool_id from gone)), 'left')
select key, payload
from told;

-- statement: worker_waits_for
-- Records the worker's free slots, if their number has changed, and returns whether a job of the pool waits
-- that its quotas leave room for, of a stage that the worker takes. No row if the worker is not registered in the pool.
-- index: agent_pools_name, jobs_claimed, jobs_waiting, run_quotas_organization_id_key, run_quotas_pool_id_key
-- takes: pool_id text, worker_id text, free integer
-- gives: jobs boolean
with me as materialized (:worker_of_pool(:worker_id, :pool_id)),
said as (
    update workers set free = :free, seen_at = now() where id = (select id from me where free <> :free)
)
select :worker_may_claim(w, p) and not :quota_is_used(p)
    and exists (
        select 1
        from jobs j
        where pool_id = :pool_id and state = 'waiting' and organization_id <> all(array(:quotas_used_up()))
            and :worker_takes(w, {:job_kind(j)})
    ) as jobs
from me w
join agent_pools p on p.id = w.pool_id;

-- statement: workers_still_waiting
-- Pools with the number of their jobs that have waited for that time, at most `max` of each. It walks the index
-- from pool to pool, and reads no pool without waiting jobs. Git jobs count for the key of their pool
-- (store/vcs/git_jobs.h, git_wait_key), and so do forwarded requests, whose answers count for that of their receiver
-- (store/forwards/forwards.h, forward_wait_key). Inspections of modules do not count: workers of an earlier version
-- can't do them, and would claim again and again.
-- index: agent_pools_name, git_jobs_waiting, jobs_claimed, jobs_waiting, run_quotas_organization_id_key,
-- run_quotas_pool_id_key
-- reads: forwards
-- takes: still_ms integer, max bigint
-- gives: waiting_pool
with recursive pools as (
    (select pool_id from jobs where state = 'waiting' order by pool_id limit 1)
    union all
    select n.pool_id
    from pools p,
        lateral (
            select pool_id from jobs where state = 'waiting' and pool_id > p.pool_id order by pool_id limit 1
        ) n
)
select p.pool_id,
    (
        select count(*)
        from (
            select created_at
            from jobs
            where pool_id = p.pool_id and state = 'waiting' and organization_id <> all(array(:quotas_used_up()))
            limit :max
        ) j
        where created_at < now() - make_interval(secs => :still_ms::int / 1000.0)
    ) as jobs
from pools p
where not exists (:quota_used_of_pool(p.pool_id))
union all
select 'git ' || g.pool_id, count(*)
from (
    select pool_id
    from git_jobs
    where state = 'waiting' and kind <> 'module' and due_at < now() - make_interval(secs => :still_ms::int / 1000.0)
    limit 1000
) g
group by 1
union all
select 'fwd ' || case when state = 'waiting' and until > now() then pool_id else receiver end, count(*)
from forwards
where created_at < now() - make_interval(secs => :still_ms::int / 1000.0)
    and (state = 'waiting' or receiver is not null and (state = 'ended' or until <= now()))
group by 1;

-- statement: workers_capabilities
-- The distinct capabilities of the pool's other live workers, drained ones included. A worker is live until the
-- leases that its last heartbeat renewed expire; with `grace`, until it leaves.
-- index: workers_pool
-- takes: pool_id text, worker_id text, lease_seconds double precision, grace boolean, max_kinds bigint
-- gives: capabilities jsonb null
select distinct capabilities
from workers
where pool_id = :pool_id and id <> :worker_id and left_at is null and (not draining or ordered = 'drain')
    and (:grace or seen_at > now() - make_interval(secs => :lease_seconds))
limit :max_kinds;

-- statement: workers_stops
-- The attempts that their workers must stop.
-- index: jobs_stopping, workspace_holds_stops
-- gives: worker_id text, id text, attempt integer, stop smallint
select worker_id, id, attempt, stop
from jobs
where stop > 0 and state = 'claimed'
union all
select worker_id, job_id, attempt, stop
from workspace_holds
where stop > 0 and until is not null and worker_id is not null;
