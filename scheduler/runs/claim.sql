-- SPDX-License-Identifier: MPL-2.0

-- statement: claim_pick
-- Picks at most `slots` waiting jobs of a pool for one of its workers, of the stages that it takes, and locks
-- them with their runs and workspaces. Jobs are picked by class. Within a class, the organization with the fewest
-- running and earlier jobs comes first, then the oldest job.
--
-- Returns one row per picked job, or one row without a job (`id` is null). Every row says whether the worker is
-- the pool's (`known`), how many candidates there are, whether quotas apply (`limited`), and which engine
-- versions are disabled. `bytes` is the size of the job's variables and addresses.
--
-- Waiting jobs are read from the index jobs_waiting, running ones from jobs_claimed, all other rows by primary
-- keys. With 1,000 waiting jobs of one organization it reads 320 blocks.
-- index: agent_pools_name, jobs_claimed, jobs_waiting, run_quotas_organization_id_key, run_quotas_pool_id_key,
-- tool_versions_version
-- reads: database_history
-- takes: pool text, slots integer, worker text, left_out text[], misfit_needs text[],
-- misfit_organizations text[], keys bytea[], lease_seconds integer
-- gives: id text null, run_id text null, attempt integer, class smallint, kind text null, needs text null,
-- organization_id text null, candidates bigint, limited boolean, bytes integer, known boolean,
-- disabled jsonb null
with recursive me as materialized (
    -- No row if the worker is not, or no longer, the pool's. One that drains may not claim.
    select :worker_may_claim(w, p) as may_claim, w.capabilities
    from (:worker_of_pool(:worker, :pool)) w
    join agent_pools p on p.id = w.pool_id
),
heads as (
    -- The classes and organizations that have waiting jobs. Each step jumps to the next one in the index, so
    -- that one organization's long queue does not slow the others down.
    (
        select class, organization_id
        from jobs
        where pool_id = :pool and state = 'waiting' and (select may_claim from me)
        order by class, organization_id
        limit 1
    )
    union all
    select n.class, n.organization_id
    from heads h, lateral (
        select class, organization_id
        from jobs
        where pool_id = :pool and state = 'waiting' and (class, organization_id) > (h.class, h.organization_id)
        order by class, organization_id
        limit 1
    ) n
),
busy as (
    -- Running jobs per organization. They decide nothing if only one organization has waiting jobs.
    select organization_id, count(*) as n
    from jobs
    where pool_id = :pool and state like 'claimed' and (select count(distinct organization_id) from heads) > 1
    group by 1
),
-- Another claim may count at the same time, so claim_fit_quotas counts again.
rooms as materialized (:quota_rooms(select organization_id from heads, :pool)),
candidates as (
    select c.id, h.class, c.created_at,
        coalesce(b.n, 0)
            + row_number() over (partition by h.class, h.organization_id order by c.created_at, c.id) as turn
    from heads h
    left join busy b using (organization_id)
    left join rooms q using (organization_id)
    cross join me, lateral (
        select id, created_at
        from jobs k
        where pool_id = :pool and state = 'waiting' and class = h.class and organization_id = h.organization_id
            and id <> all(:left_out::text[])
            and needs <> all(:misfit_needs::text[])
            and organization_id <> all(:misfit_organizations::text[])
            and :worker_takes(me, {:job_kind(k)})
            -- A scheduler that has the key hands the job out.
            and not :job_key_is_missing(k, :keys)
            -- A held workspace, and a new epoch, delay all runs but plan-only ones.
            and (
                (select plan_only from runs where id = k.run_id)
                or not exists (
                    select 1 from workspaces hw where hw.id = k.workspace_id and hw.hold_job_id is not null
                )
                and not :epoch_is_young(:lease_seconds)
            )
        order by created_at, id
        -- One more than the slots shows that more jobs wait.
        limit least(:slots + 1, q.room, (select room from rooms where organization_id is null))
    ) c
),
picked as (
    -- Jobs that another transaction has locked are skipped until the next pick.
    select j.id, j.run_id, j.attempt, j.class, :job_kind(j) as kind, j.needs, j.organization_id
    from candidates c
    join jobs j on j.id = c.id
    join runs r on r.id = j.run_id
    join workspaces w on w.id = j.workspace_id
    where j.state = 'waiting'
    order by c.class, c.turn, c.created_at, c.id
    limit :slots
    for no key update of w, r, j skip locked
)
select p.id, p.run_id, p.attempt, p.class, p.kind, p.needs, p.organization_id,
    (select count(*) from candidates) as candidates,
    exists (select 1 from rooms) as limited,
    (
        select coalesce(octet_length(snapshot_sealed), 0) + coalesce(octet_length(variables_sealed), 0)
            + octet_length(concat(target_addrs, replace_addrs, invoke_action_addrs))
        from run_inputs
        where run_id = p.run_id
    ) as bytes,
    m.may_claim is not null as known,
    (select jsonb_agg(version) from tool_versions where tool = 'terraform' and not enabled) as disabled
from (select 1) one
left join picked p on true
left join me m on true;

-- statement: claim_mark
-- Gives the picked jobs to the worker, with a lease, the digests of their tokens, and a deadline if they apply.
-- Their plans and applies get the worker's name, and each plan its base state. `claims`: an array of {id, hash,
-- run_hash, engine, version}. Every table is read by its primary key; the jobs' ids are an array (db/db.h,
-- "plans").
-- takes: claims jsonb, worker text, lease_seconds double precision, slots bigint, deadline_seconds bigint
with claimed as (
    update jobs j
    set state = 'claimed', worker_id = :worker, token_hash = u.hash,
        needs = case
            when u.engine <> ''
                then coalesce(substring(j.needs from '^(query |test )'), '') || u.engine || ' ' || u.version
            else j.needs
        end,
        run_token_hash = case when j.stage in ('plan', 'apply') then u.run_hash end,
        lease_until = now() + make_interval(secs => :lease_seconds),
        log_base = o.log_length,
        deadline = case
            when j.stage = 'apply' and :deadline_seconds::bigint > 0
                then now() + make_interval(secs => :deadline_seconds)
        end
    from jsonb_to_recordset(:claims::jsonb) as u(id text, hash text, run_hash text, engine text, version text),
        operations o
    where j.id = u.id
        and j.id = any(array(select d.id from jsonb_to_recordset(:claims::jsonb) as d(id text)))
        and o.id = (case j.stage when 'apply' then 'apply' else 'plan' end) || substr(j.run_id, 4)
    returning o.id as operation_id, j.workspace_id, j.stage, u.hash, u.engine, u.version
),
busy as (
    update workers
    set free = greatest(:slots - (select count(*) from claimed), 0), seen_at = now()
    where id = :worker
    returning name
)
update operations o
set worker_id = :worker, worker_name = (select name from busy),
    base_state_id = case when c.stage = 'plan' then w.current_state_id else o.base_state_id end,
    upload_hash = case when c.stage = 'plan' then c.hash end,
    engine = case when c.stage = 'plan' then c.engine else o.engine end,
    terraform_version = case
        when c.stage = 'plan' and c.engine <> '' then c.version
        else o.terraform_version
    end
from claimed c
join workspaces w on w.id = c.workspace_id
where o.id = c.operation_id and c.stage in ('plan', 'apply');

-- statement: claim_withdraw
-- Deletes a job that no worker has claimed since that attempt.
-- index: jobs_pkey
-- takes: job text, attempt integer
delete from jobs where id = :job and attempt = :attempt and state = 'waiting';
