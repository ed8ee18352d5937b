-- SPDX-License-Identifier: MPL-2.0

-- fragment: assessment_room(p)
-- How many assessments the pool `p` may have in progress: a share of its slots, at least one.
greatest(1, (
    select coalesce(sum(k.slots), 0) * :percent / 100
    from workers k
    where k.pool_id = :p.id and k.left_at is null and k.seen_at > now() - interval '1 minute'
));

-- statement: assessment_pools
-- The pools that have room for more assessments, and a workspace that is to be looked at. None during maintenance, and
-- none if assessments are switched off.
-- index: assessments_pool, workers_pool, workspaces_assess
-- reads: agent_pools, maintenance
-- takes: percent bigint
-- gives: pool text, room bigint
select p.id as pool, c.room
from agent_pools p
cross join lateral (
    select :assessment_room(p)::bigint - (select count(*) from assessments a where a.pool_id = p.id) as room
) c
where :percent > 0 and (select reason is null from maintenance)
    and case
        when p.organization_id is null
            then (select true from workspaces w where w.pool_id is null and w.assess_at <= now() limit 1)
        else (select true from workspaces w where w.pool_id = p.id and w.assess_at <= now() limit 1)
    end
    and c.room > 0;

-- statement: assessments_ended
-- Assessments whose runs have ended.
-- index: runs_pkey
-- reads: assessments
-- takes: max bigint
-- gives: run text
select a.run_id as run
from assessments a
join runs r on r.id = a.run_id
where r.ended
order by a.created_at
limit :max;

-- statement: assessments_unwanted
-- Assessments in workspaces in which a run is in progress, and in pools in which a job waits while no slot is free:
-- of these, the newest ones, as many as jobs wait. `force`: it was canceled 5 seconds ago, and has not ended.
-- index: jobs_run_id_key, jobs_waiting, workers_pool
-- reads: assessments
-- takes: max bigint
-- gives: run text, of_pool boolean, force boolean
select a.run_id as run, false as of_pool, false as force
from assessments a
join workspaces w on w.id = a.workspace_id
join runs r on r.id = a.run_id
where w.current_run_id is not null and r.stopping = 0 and not r.ended
union
select a.run_id, false, true
from assessments a
join runs r on r.id = a.run_id
where r.stopping = 1 and r.canceled_at < now() - interval '5 seconds'
union
select c.run_id, true, false
from (select distinct pool_id from assessments) p
cross join lateral (
    select count(*) as waiting
    from jobs j
    where j.pool_id = p.pool_id and j.state = 'waiting' and j.class < 3
) j
cross join lateral (
    select a.run_id
    from assessments a
    join jobs k on k.run_id = a.run_id and k.state = 'claimed' and k.stop = 0
    where a.pool_id = p.pool_id
    order by a.created_at desc
    limit j.waiting
) c
where j.waiting > 0
    and not exists (
        select 1
        from workers f
        where f.pool_id = p.pool_id and f.left_at is null and f.free > 0 and not f.draining
            and f.seen_at > now() - interval '1 minute'
    )
limit :max;
