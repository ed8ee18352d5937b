-- SPDX-License-Identifier: MPL-2.0

-- statement: forward_add
-- Inserts the request if a worker of the pool forwards requests, and the pool has fewer than :max that wait. Repeating
-- it changes nothing. name: of the pool; null: there is none, or it is the shared one. served: such a worker is there.
-- added: the request is there.
-- index: agent_pools_pkey, forwards_pkey, forwards_pool, workers_pool
-- takes: id text, pool_id text, receiver text, request_sealed bytea, time_ms integer, wait_ms bigint, max bigint,
-- lease_seconds double precision
-- gives: name text null, served boolean, added boolean
with pool as materialized (
    select id, name from agent_pools where id = :pool_id and organization_id is not null and drained_at is null
),
facts as materialized (
    select exists (
            select 1
            from workers k
            where k.pool_id = :pool_id and k.left_at is null and not k.draining and k.ordered is null
                and k.capabilities ? 'forward' and k.seen_at > now() - make_interval(secs => :lease_seconds)
        ) as served,
        (
            select count(*)
            from (select 1 from forwards where pool_id = :pool_id and state = 'waiting' limit :max) w
        ) >= :max as is_full
),
added as (
    insert into forwards (id, pool_id, receiver, request_sealed, time_ms, until)
    select :id, p.id, :receiver, :request_sealed, :time_ms, now() + make_interval(secs => :wait_ms::bigint / 1000.0)
    from pool p, facts f
    where f.served and not f.is_full
    on conflict (id) do nothing
    returning id
)
select (select name from agent_pools where id = :pool_id and organization_id is not null) as name, f.served,
    exists (select 1 from added) or exists (select 1 from forwards where id = :id) as added
from facts f;

-- statement: forwards_claim
-- Claims the oldest requests of the pool for the worker. One row without a request if the worker is the pool's and
-- there is none.
-- index: forwards_pkey, forwards_pool
-- takes: pool_id text, worker_id text, max bigint, more_ms bigint
-- gives: id text null, request_sealed bytea null
with me as materialized (
    select :worker_may_claim(w, p) as may_claim
    from (:worker_of_pool(:worker_id, :pool_id)) w
    join agent_pools p on p.id = w.pool_id
),
claimed as (
    update forwards
    set state = 'claimed', worker_id = :worker_id,
        until = now() + make_interval(secs => (time_ms + :more_ms::bigint) / 1000.0)
    where id = any(array(
                select id
                from forwards
                where pool_id = :pool_id and state = 'waiting' and until > now() and (select may_claim from me)
                order by created_at
                limit :max
                for no key update skip locked
            ))
    returning id, request_sealed
)
select c.id, c.request_sealed
from me m
left join claimed c on true;

-- statement: forward_end
-- Stores the answer that the worker got. No row: the request has ended, or is another worker's.
-- index: forwards_pkey
-- takes: id text, pool_id text, worker_id text, answer_sealed bytea, keep_ms bigint
-- gives: receiver text null
with found as materialized (
    select id, pool_id, worker_id, state from forwards where id = :id for no key update
)
update forwards f
set state = 'ended', answer_sealed = :answer_sealed,
    until = now() + make_interval(secs => :keep_ms::bigint / 1000.0)
from found d
where f.id = d.id and d.pool_id = :pool_id and d.worker_id = :worker_id and d.state = 'claimed'
returning f.receiver;

-- statement: forwards_read
-- Those of the requests that have ended, at most :max. answer_sealed: null without an answer. claimed: a worker had it.
-- A request that is not there has ended: nobody read its answer in time.
-- index: forwards_pkey, workers_pkey
-- takes: ids text[], max bigint, lease_seconds double precision
-- gives: id text, answer_sealed bytea null, claimed boolean, pool text null
select u.id, f.answer_sealed, coalesce(f.state <> 'waiting', true) as claimed, p.name as pool
from unnest(:ids::text[]) as u(id)
left join forwards f on f.id = u.id
left join agent_pools p on p.id = f.pool_id
where f.id is null or f.state = 'ended' or f.until <= now()
    or f.state = 'claimed'
    and not exists (
        select 1
        from workers k
        where k.id = f.worker_id and k.left_at is null
            and k.seen_at > now() - make_interval(secs => :lease_seconds)
    )
limit :max;

-- statement: forwards_done
-- Deletes requests whose answers were read.
-- index: forwards_pkey
-- takes: ids text[]
delete from forwards where id = any(:ids::text[]);

-- statement: forwards_expire
-- Deletes requests whose answers were not read in time.
-- reads: forwards
delete from forwards where until < now() - interval '1 minute';
