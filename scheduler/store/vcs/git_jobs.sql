-- SPDX-License-Identifier: MPL-2.0

-- fragment: git_pool_of(r)
-- The pool whose workers reach the repository `r`.
coalesce((select s.pool_id from vcs_repository_pools s where s.repository_id = :r.id),
    (select p.id from agent_pools p where p.organization_id is null limit 1));

-- fragment: git_job_columns()
j.id, j.kind, j.repository_id, j.content_id, j.event_id, j.module_version_id, j.attempt, j.tries, j.again,
    j.blob_id, j.hash, coalesce(j.size, 0) as size, j.error;

-- shape: git_job_pool
-- pool_id text

-- shape: git_job_insert
-- pool_id text, state text

-- statement: git_job_look
-- Makes a look at the repository due. Another look follows one that is at work.
-- index: vcs_connections_pkey, vcs_installations_pkey, vcs_repositories_pkey
-- reads: agent_pools
-- takes: new_id text, subject_id text
-- gives: git_job_insert
insert into git_jobs (id, kind, organization_id, repository_id, pool_id)
select :new_id, 'look', r.organization_id, r.id, :git_pool_of(r)
from vcs_repositories r
where r.id = :subject_id
on conflict (repository_id) where kind = 'look' do update set due_at = least(git_jobs.due_at, now()),
    again = git_jobs.state = 'claimed'
returning pool_id, state;

-- statement: git_job_diff
-- Inserts the job that compares the commits of an event. No row if it exists.
-- reads: agent_pools
-- takes: like git_job_look
-- gives: git_job_insert
insert into git_jobs (id, kind, organization_id, repository_id, event_id, pool_id)
select :new_id, 'diff', r.organization_id, r.id, e.id, :git_pool_of(r)
from vcs_events e
join vcs_repositories r on r.id = e.repository_id
where e.id = :subject_id
on conflict (event_id) where kind = 'diff' do nothing
returning pool_id, state;

-- statement: git_job_fetch
-- Inserts the job that fetches a content. No row if it exists.
-- reads: agent_pools
-- takes: like git_job_look
-- gives: git_job_insert
insert into git_jobs (id, kind, organization_id, repository_id, content_id, pool_id)
select :new_id, 'fetch', r.organization_id, r.id, v.id, :git_pool_of(r)
from vcs_contents v
join vcs_repositories r on r.id = v.repository_id
where v.id = :subject_id
on conflict (content_id) where kind = 'fetch' do nothing
returning pool_id, state;

-- statement: git_job_module
-- Inserts the job that inspects the content of a module's version. Another one follows that is at work.
-- reads: agent_pools
-- takes: like git_job_look
-- gives: git_job_insert
insert into git_jobs (id, kind, organization_id, repository_id, module_version_id, pool_id)
select :new_id, 'module', m.organization_id, r.id, v.id,
    case when r.id is null and o.default_pool_id is not null then o.default_pool_id else :git_pool_of(r) end
from registry_module_versions v
join registry_modules m on m.id = v.module_id
join organizations o on o.id = m.organization_id
left join vcs_repositories r on r.id = m.repository_id
where v.id = :subject_id and v.blob_id is not null
on conflict (module_version_id) where module_version_id is not null do update
    set due_at = least(git_jobs.due_at, now()), again = git_jobs.state = 'claimed'
returning pool_id, state;

-- statement: git_jobs_mark
-- Claims the picked jobs for the worker. :marks: objects with id, and hash: that of the attempt's token.
-- index: git_jobs_pkey
-- takes: marks jsonb, worker_id text, lease_seconds double precision
update git_jobs j
set state = 'claimed', worker_id = :worker_id, token_hash = u.hash, again = false, blob_id = null,
    claimed_at = now(), lease_until = now() + make_interval(secs => :lease_seconds)
from jsonb_to_recordset(:marks::jsonb) as u(id text, hash text)
where j.id = u.id and j.id = any(array(select d.id from jsonb_to_recordset(:marks::jsonb) as d(id text)));

-- statement: git_jobs_pick
-- The jobs to claim: at most :slots, in the order of their claim. The walk over `heads` jumps from organization
-- to organization in the index git_jobs_waiting, and reads at most :slots due jobs of each kind there. One row
-- without a job if the worker is the pool's and nothing is due. Jobs at work are read from the index
-- git_jobs_claimed.
-- index: git_jobs_claimed, git_jobs_waiting
-- takes: pool_id text, worker_id text, slots bigint, kinds text[]
-- gives: id text, kind text, attempt integer, known boolean
with recursive me as materialized (
    select :worker_may_claim(w, p) as may_claim
    from (:worker_of_pool(:worker_id, :pool_id)) w
    join agent_pools p on p.id = w.pool_id
),
heads as (
    (
        select organization_id
        from git_jobs
        where pool_id = :pool_id and state = 'waiting' and (select may_claim from me)
        order by organization_id
        limit 1
    )
    union all
    select n.organization_id
    from heads h,
        lateral (
            select organization_id
            from git_jobs
            where pool_id = :pool_id and state = 'waiting' and organization_id > h.organization_id
            order by organization_id
            limit 1
        ) n
),
busy as (
    select organization_id, count(*) as n
    from git_jobs
    where state = 'claimed' and pool_id = :pool_id
    group by 1
),
candidates as (
    select c.id, k.place, c.due_at,
        coalesce(b.n, 0) + row_number() over
        (partition by k.place, h.organization_id order by c.due_at, c.id) as turn
    from heads h
    left join busy b using (organization_id), unnest(array['fetch', 'diff', 'module', 'look'])
    with ordinality as k(kind, place),
    lateral (
        select id, due_at
        from git_jobs
        where pool_id = :pool_id and state = 'waiting' and organization_id = h.organization_id and kind = k.kind
            and due_at <= now() and k.kind = any(:kinds::text[])
        order by due_at, id
        limit :slots
    ) c
),
picked as (
    select j.id, j.kind, j.attempt
    from candidates c
    join git_jobs j on j.id = c.id
    where j.state = 'waiting'
    order by c.place, c.turn, c.due_at, c.id
    limit :slots
    for no key update of j skip locked
)
select p.id, p.kind, p.attempt, m.may_claim is not null as known
from (select 1) one
left join picked p on true
left join me m on true;

-- statement: git_jobs_beat
-- Extends the leases of the jobs that the worker still holds, and says for each of :jobs whether it does.
-- takes: worker_id text, jobs jsonb, lease_seconds double precision
-- gives: job text, attempt integer, held boolean
with said as (
    select job, attempt from jsonb_to_recordset(:jobs::jsonb) as u(job text, attempt integer)
),
mine as (
    select j.id
    from said
    join git_jobs j on j.id = said.job and j.attempt = said.attempt
    where j.id = any(array(select job from said)) and j.worker_id = :worker_id and j.state = 'claimed'
    order by j.id
    for no key update of j
),
held as (
    update git_jobs
    set lease_until = now() + make_interval(secs => :lease_seconds)
    where id = any(array(select id from mine))
    returning id, attempt
)
select said.job, said.attempt, held.id is not null as held
from said
left join held on held.id = said.job and held.attempt = said.attempt;

-- shape: git_job
-- id text, kind text, repository_id text null, content_id text null, event_id text null,
-- module_version_id text null, attempt integer, tries integer, again boolean, blob_id text null,
-- hash text null, size bigint, error text null

-- statement: git_job_held
-- The attempt of that token, if it has not ended.
-- index: git_jobs_pkey
-- takes: job_id text, hash text
-- gives: git_job
select :git_job_columns()
from git_jobs j
where j.id = :job_id and j.token_hash = :hash and j.state = 'claimed';

-- statement: git_job_archive
-- Stores the archive of a fetch.
-- index: git_jobs_pkey
-- takes: id text, blob text, hash text, size bigint
update git_jobs set blob_id = :blob, hash = :hash, size = :size where id = :id;

-- statement: git_job_again
-- Lets the job wait again. No row if the attempt has ended. Without an error, the tries count from 0.
-- index: git_jobs_pkey
-- takes: id text, error text, after_seconds double precision, attempt integer
-- gives: git_job_pool
update git_jobs
set state = 'waiting', attempt = attempt + 1, worker_id = null, token_hash = null, lease_until = null,
    again = false, blob_id = null, due_at = now() + make_interval(secs => :after_seconds), tries = case
    when :error::text is null then 0 else tries + 1 end, error = :error
where id = :id and state = 'claimed' and attempt = :attempt
returning pool_id;

-- statement: git_job_end
-- Deletes the job, unless it must run again. No row if it must, or if the attempt has ended.
-- index: git_jobs_pkey
-- takes: id text, attempt integer
-- gives: id text
delete from git_jobs
where id = :id and state = 'claimed' and attempt = :attempt and not again
returning id;

-- statement: git_jobs_lost
-- Jobs whose lease has ended.
-- index: git_jobs_claimed
-- takes: max_lost bigint
-- gives: git_job
select :git_job_columns()
from git_jobs j
where j.state = 'claimed' and j.lease_until < now()
order by j.lease_until
limit :max_lost;

-- statement: git_jobs_moved
-- Moves waiting jobs to the pool that their connection has now.
-- index: git_jobs_waiting
-- reads: agent_pools
-- gives: git_job_pool
update git_jobs j
set pool_id = :git_pool_of(r)
from vcs_repositories r
where r.id = j.repository_id and j.state = 'waiting' and j.pool_id <> :git_pool_of(r)
returning j.pool_id;
