-- SPDX-License-Identifier: MPL-2.0

-- shape: wait_candidate
-- id text, c0 text, c1 text, c2 text, c3 text, c4 text, lasts boolean

-- statement: wait_queued
-- The next queued runs behind the cursor (:c0 to :c4; all empty: the beginning), in the order of the index
-- runs_queue. lasts: the run has waited for :noted_seconds.
-- index: runs_queue
-- takes: c0 text, c1 text, c2 text, c3 text, c4 text, max bigint, noted_seconds double precision
-- gives: wait_candidate
select r.id, r.workspace_id as c0, r.position::text as c1, '' as c2, '' as c3, '' as c4,
    r.created_at < now() - make_interval(secs => :noted_seconds) as lasts
from runs r
where r.queued and (r.workspace_id, r.position) > (:c0, coalesce(nullif(:c1, '')::bigint, 0))
    and :c2 || :c3 || :c4 = ''
order by r.workspace_id, r.position
limit :max;

-- statement: wait_jobs
-- The same for the runs of waiting jobs, in the order of the index jobs_waiting.
-- index: jobs_waiting
-- takes: like wait_queued
-- gives: wait_candidate
select j.run_id as id, j.pool_id as c0, j.class::text as c1, j.organization_id as c2,
    j.created_at::text as c3, j.id as c4,
    j.created_at < now() - make_interval(secs => :noted_seconds) as lasts
from jobs j
where j.state = 'waiting'
    and (j.pool_id, j.class, j.organization_id, j.created_at, j.id) > (:c0,
        coalesce(nullif(:c1, '')::smallint, 0::smallint), :c2, coalesce(nullif(:c3, '')::timestamptz, '-infinity'), :c4)
order by j.pool_id, j.class, j.organization_id, j.created_at, j.id
limit :max;

-- shape: wait_operation
-- id text null, stage text

-- statement: wait_lock_job
-- Locks a job that waits, and returns its plan or apply; null: the stage has no log. No row: it waits no more.
-- index: jobs_run_id_key
-- takes: job text, run text
-- gives: wait_operation
select o.id, j.stage
from jobs j
left join operations o on o.id = j.stage || substr(j.run_id, 4)
where j.id = :job and j.state = 'waiting' and j.run_id = :run
for no key update of j;

-- statement: wait_lock_run
-- The same for a queued run.
-- index: operations_pkey, runs_pkey
-- takes: run text
-- gives: wait_operation
select o.id, 'plan' as stage
from runs r
left join operations o on o.id = 'plan' || substr(r.id, 4) and r.status = 'pending'
where r.id = :run and r.queued
for no key update of r;

-- statement: waits_filter
-- The places, from 0 on, of the waits that have an action and are not noted yet.
-- index: run_events_run
-- takes: runs text[], actions text[]
-- gives: n bigint
select u.n - 1 as n
from unnest(:runs::text[], :actions::text[])
with ordinality as u(run, action, n)
where u.action is not null
    and not exists (select 1 from run_events e where e.run_id = u.run and e.action = u.action)
order by u.n;
