-- SPDX-License-Identifier: MPL-2.0

-- fragment: agent_status()
-- The status of a worker `k`, as the API names it.
case when k.failed or k.left_at is null and k.seen_at < now() - interval '2 hours' then 'errored'
    when k.left_at is not null then 'exited'
    when k.seen_at < now() - interval '1 minute' then 'unknown'
    when exists (
        select 1 from jobs j where j.pool_id = k.pool_id and j.worker_id = k.id and j.state like 'claimed'
    ) then 'busy' else 'idle' end;

-- fragment: agents_columns()
-- Columns of a worker with agents_tables, and the runs that it executes.
k.id, k.name, k.address, :agent_status() as status, k.seen_at, k.created_at, k.token_id,
    k.token_description, k.pool_id, p.organization_id, k.capabilities, :worker_order(k, p) as ordered,
    k.draining or :worker_order(k, p) <> 'none' as draining, k.version, k.slots, k.free,
    (
        select coalesce(jsonb_agg(j.run_id order by j.run_id), '[]')
        from jobs j
        where j.pool_id = k.pool_id and j.worker_id = k.id and j.state like 'claimed'
    ) as runs,
    coalesce((select o.name || '/' from organizations o where o.id = p.organization_id), '') || p.name as pool;

-- fragment: agents_tables()
-- Workers with their pools.
from workers k join agent_pools p on p.id = k.pool_id;

-- fragment: agent_gone(k)
-- Whether the worker `k` has left or was not seen for two hours.
(:k.left_at is not null or :k.seen_at < now() - interval '2 hours');

-- shape: agent
-- total bigint optional, place bigint optional, id text, name text, address text, status text,
-- seen_at timestamptz, created_at timestamptz, token_id text null, token_description text null, pool_id text,
-- organization_id text null, capabilities jsonb null, ordered text, draining boolean, version text,
-- slots integer, free integer, runs jsonb, pool text

-- statement: agents_list
-- One page of the workers of the pool, of the organization or of the site, in the order that `sort` names.
-- index: agent_pools_organization, jobs_claimed
-- reads: workers
-- takes: pool_id text, seen_since timestamptz, sort text, limit bigint, offset bigint, organization_id text
-- gives: agent
with found as (
    select k.id, row_number() over (order by case when :sort::text = 'name' then k.name end, case
            when :sort = '-name' then k.name end desc, case
            when :sort = 'last-ping-at' then k.seen_at end, case
            when :sort = '-last-ping-at' then k.seen_at end desc, case
            when :sort = 'created-at' then k.created_at end, k.created_at desc, k.id) as place
    from workers k
    where (:pool_id::text is null or k.pool_id = :pool_id)
        and (:organization_id::text is null
                or k.pool_id in (select id from agent_pools where organization_id = :organization_id))
        and (:seen_since::timestamptz is null or k.seen_at >= :seen_since)
)
select c.total, a.*
from (select count(*) as total from found) c
left join (
    select f.place, :agents_columns() :agents_tables()
    join found f on f.id = k.id
    order by f.place
    limit :limit
    offset :offset
) a on true
order by a.place;

-- statement: agent_read
-- The worker of that id.
-- index: jobs_claimed
-- takes: id text
-- gives: agent
select :agents_columns() :agents_tables() where k.id = :id;

-- statement: agent_delete
-- Deletes a worker that is neither idle nor busy.
-- index: jobs_claimed
-- takes: id text
delete from workers k where k.id = :id and :agent_status() not in ('idle', 'busy');
