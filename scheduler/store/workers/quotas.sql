-- SPDX-License-Identifier: MPL-2.0

-- fragment: organization_running(organization)
-- The number of an organization's running jobs: lookups in the index jobs_claimed, in its own pools and the
-- shared one. Assessments (class 3) take no place of a quota.
(
    select count(*)
    from agent_pools qp
    join jobs qj on qj.pool_id = qp.id
    where coalesce(qp.organization_id, '') in (:organization, '') and qj.organization_id = :organization
        and qj.state like 'claimed' and qj.class < 3
);

-- fragment: pool_running(pool)
-- The number of running jobs in a pool: a lookup in the same index.
(
    select count(*) from jobs qj where qj.pool_id = :pool and qj.state like 'claimed' and qj.class < 3
);

-- fragment: quota_used_of_pool(pool)
-- A row if the quota of the pool is used up.
select 1 from run_quotas q where q.pool_id = :pool and q.runs <= :pool_running(q.pool_id);

-- fragment: quota_used_of_organization(organization)
-- A row if the quota of the organization is used up.
select 1
from run_quotas q
where q.organization_id = :organization and q.runs <= :organization_running(q.organization_id);

-- fragment: quota_is_used(p)
-- Whether the quota of the pool `p`, or of its organization, is used up.
exists (:quota_used_of_pool(:p.id) union all :quota_used_of_organization(:p.organization_id));

-- fragment: quotas_used_up()
-- The organizations whose quotas are used up. Without quotas it reads nothing else.
select q.organization_id
from run_quotas q
where q.organization_id is not null and q.runs <= :organization_running(q.organization_id);

-- fragment: quota_rooms(organizations, pool)
-- The quotas among some organizations (a subquery) and of one pool, with the `room` that is left: rows
-- {organization_id, room}, the pool's with a null organization. Without quotas it reads nothing else.
select q.organization_id, greatest(q.runs - :organization_running(q.organization_id), 0) as room
from run_quotas q
where q.organization_id in (:organizations)
union all
select null, greatest(q.runs - :pool_running(q.pool_id), 0)
from run_quotas q
where q.pool_id = :pool;

-- fragment: waiting_jobs()
-- Common table expressions for all pools at once. They read the indexes jobs_waiting and jobs_claimed once
-- each.
--  - busy {pool_id, organization_id, running}: running jobs.
--  - rooms {owner, room}: each quota, by the id of its organization or pool, and what is left of it.
--  - waiting {pool_id, waiting, startable, oldest}: pools with waiting jobs. `startable`: how many of them the
--    quotas leave room for; the room of an organization counts in each pool. `oldest`: the time of the oldest
--    job whose organization and pool have room, or null. Assessments (class 3) do not count for it: no user waits
--    for them.
busy as materialized (
    select pool_id, organization_id, count(*) as running
    from jobs
    where state like 'claimed' and class < 3
    group by 1, 2
),
rooms as materialized (
    select coalesce(q.organization_id, q.pool_id) as owner,
        greatest(q.runs - coalesce(b.running, 0), 0) as room
    from run_quotas q
    left join (
        select organization_id as owner, sum(running) as running
        from busy
        group by 1
        union all
        select pool_id, sum(running)
        from busy
        group by 1
    ) b on b.owner = coalesce(q.organization_id, q.pool_id)
),
waiting as materialized (
    select j.pool_id, sum(j.waiting) as waiting,
        least(sum(least(j.waiting, o.room)), max(p.room)) as startable,
        min(j.oldest) filter (where coalesce(least(o.room, p.room), 1) > 0) as oldest
    from (
        select pool_id, organization_id, count(*) as waiting, min(created_at) filter (where class < 3) as oldest
        from jobs
        where state = 'waiting'
        group by 1, 2
    ) j
    left join rooms o on o.owner = j.organization_id
    left join rooms p on p.owner = j.pool_id
    group by 1
);

-- statement: quota_delete
-- Deletes the quota of the organization or the pool.
-- index: run_quotas_organization_id_key, run_quotas_pool_id_key
-- takes: organization_id text, pool_id text
delete from run_quotas where organization_id = :organization_id or pool_id = :pool_id;

-- statement: pool_quota_set
-- Sets the pool's quota.
-- takes: pool_id text, runs integer
insert into run_quotas (pool_id, runs)
values (:pool_id, :runs)
on conflict (pool_id) do update set runs = excluded.runs;

-- statement: organization_quota_set
-- Sets the organization's quota.
-- takes: organization_id text, runs integer
insert into run_quotas (organization_id, runs)
values (:organization_id, :runs)
on conflict (organization_id) do update set runs = excluded.runs;

-- statement: quotas_lock
-- Locks the quotas of the organizations and of the pool, in the same order in each claim.
-- index: run_quotas_organization_id_key, run_quotas_pool_id_key
-- takes: organizations text[], pool_id text
select 1
from run_quotas
where organization_id = any(:organizations::text[]) or pool_id = :pool_id
order by coalesce(organization_id, pool_id)
for no key update;

-- statement: quotas_lock_read
-- These quotas and the room that they leave. A statement of its own, so that it sees what was committed while
-- quotas_lock waited.
-- index: agent_pools_name, jobs_claimed, run_quotas_organization_id_key, run_quotas_pool_id_key
-- takes: organizations text[], pool_id text
-- gives: organization_id text null, room bigint
:quota_rooms(select unnest(:organizations::text[]), :pool_id);
