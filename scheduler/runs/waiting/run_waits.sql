-- SPDX-License-Identifier: MPL-2.0

-- statement: run_waits
-- Returns one row per run: the columns of its decision and of its workspace, the run before it in the queue (`b_`),
-- the teams that decide, and the open run tasks of its stage. If its job waits, also the place of the job, and the pool
-- with its workers and quotas.
--
-- Runs, workspaces, jobs, holds and pools are read by their keys. Teams are read by their organization, run
-- tasks by their run. A pool's workers count for each stage, since a worker may refuse some. Queues are in the
-- index runs_queue, waiting jobs in jobs_waiting, running ones in jobs_claimed.
-- index: agent_pools_name, configuration_commits_content, git_jobs_fetch, jobs_claimed, jobs_run_id_key,
-- jobs_waiting, run_inputs_pkey
-- reads: database_history, maintenance
-- takes: run_ids text[], lease_seconds integer, max_position integer, keys bytea[], user text
-- gives: id text, status text, stage text, stages integer, plan_only boolean, assessment boolean, query boolean,
-- test boolean, save_plan boolean,
-- auto_apply boolean, allow_empty_apply boolean, has_changes boolean, queued boolean, underway boolean,
-- stopping smallint, before bigint null, since text null, rights bigint, b_id text null, b_status text null,
-- b_stage text null, b_underway boolean, b_queued boolean, b_seconds bigint, bit integer null, teams text null,
-- team_count bigint, task_name text null, taken boolean, task_seconds bigint, task_limit bigint,
-- task_others bigint, current_run_id text null, locked boolean, held boolean, maintenance boolean,
-- locked_reason text null, locked_by text null, workspace text, organization text, hold_run text null,
-- hold_worker text null, hold_engine_ended boolean, hold_settled boolean, maintenance_reason text null,
-- maintenance_since text null, git_waiting boolean, git_error text null, job_id text null, failover boolean,
-- key_missing boolean, place bigint null, places bigint, eta_seconds bigint, eta text null,
-- window_opens text null, stop_worker text null, stop_seconds bigint, quota integer null, running bigint,
-- creator_suspended boolean, pool text null, drained boolean, drained_since text null, live bigint,
-- accepting bigint, willing bigint, slots bigint, free bigint,
-- last_seen text null, pool_quota integer null, pool_running bigint
with asked as (select * from runs where id = any(:run_ids::text[])),
waiting as (select j.* from asked a join jobs j on j.run_id = a.id where j.state = 'waiting'),
pool_facts as materialized (
    select p.id, d.stage, p.name, p.drained_at, q.runs as quota, :pool_running(p.id) as running, k.*
    from (select distinct pool_id, stage from waiting) d
    join agent_pools p on p.id = d.pool_id
    left join run_quotas q on q.pool_id = p.id
    cross join lateral (
        select count(*) filter (where k.live) as live,
            count(*) filter (where k.live and k.accepts) as accepting,
            count(*) filter (where k.live and k.accepts and k.takes) as willing,
            coalesce(sum(k.slots) filter (where k.live and k.accepts and k.takes), 0) as slots,
            coalesce(sum(k.free) filter (where k.live and k.accepts and k.takes), 0) as free,
            max(coalesce(k.left_at, k.seen_at)) as last_seen
        from (
            select w.slots, w.free, w.left_at, w.seen_at,
                w.left_at is null and w.seen_at > now() - make_interval(secs => :lease_seconds::int) as live,
                not w.draining and w.ordered is null as accepts, :worker_takes(w, d.stage) as takes
            from workers w
            where w.pool_id = p.id
        ) k
    ) k
),
pools as materialized (
    -- The duration of the pool's last jobs, if none of its slots is free.
    select p.*, case
        when p.free = 0 then (
            select case
                when count(*) >= 3 then avg(extract(epoch from
                    (o.status_timestamps ->> 'finished-at')::timestamptz
                    - (o.status_timestamps ->> 'started-at')::timestamptz))
            end
            from (
                select id
                from runs
                where ended_at > now() - interval '1 hour'
                order by ended_at desc
                limit 200
            ) e
            join operations o on o.id in ('plan' || substr(e.id, 4), 'apply' || substr(e.id, 4))
            join workers w on w.id = o.worker_id and w.pool_id = p.id
            where o.status_timestamps ? 'finished-at' and o.status_timestamps ? 'started-at'
        )
    end as job_seconds
    from pool_facts p
),
places as (
    -- The order in which the claim picks jobs (runs/claim.sql).
    select x.*
    from (select distinct id from pools) p
    cross join lateral (
        select t.id, row_number() over (order by t.class, t.turn, t.created_at, t.id) as place,
            count(*) over () as total
        from (
            select q.id, q.class, q.created_at,
                coalesce(b.n, 0)
                    + row_number() over (partition by q.class, q.organization_id order by q.created_at, q.id) as turn
            from (
                select id, class, created_at, organization_id
                from jobs
                where pool_id = p.id and state = 'waiting'
                order by class, organization_id, created_at, id
                limit :max_position + 1
            ) q
            left join (
                select organization_id, count(*) as n
                from jobs
                where pool_id = p.id and state like 'claimed'
                group by 1
            ) b using (organization_id)
        ) t
    ) x
)
select r.id, r.status, r.stage, r.stages, r.plan_only, r.assessment, r.query, r.test,
    r.save_plan, r.auto_apply, r.allow_empty_apply,
    r.has_changes, r.queued, r.underway, r.stopping,
    case
        when r.queued then (
            select count(*)
            from (
                select 1
                from runs q
                where q.workspace_id = r.workspace_id and q.queued and not q.plan_only and q.position < r.position
                limit :max_position
            ) f
        )
    end as before,
    :sql_time(
        case
            when r.queued then r.created_at
            when j.id is not null then j.created_at
            when r.stopping > 0 then r.canceled_at
            else (r.status_timestamps ->> (replace(r.status, '_', '-') || '-at'))::timestamptz
        end
    ) as since,
    :rights_in_workspace(:user, r.organization_id, r.workspace_id) as rights,
    b.id as b_id, b.status as b_status, b.stage as b_stage, b.underway as b_underway, b.queued as b_queued,
    extract(epoch from now() - coalesce(
        (b.status_timestamps ->> (replace(b.status, '_', '-') || '-at'))::timestamptz, b.created_at
    ))::bigint as b_seconds,
    d.bit, e.teams, e.team_count,
    t.task_name, t.taken, t.seconds as task_seconds, t.limit_seconds as task_limit, t.others as task_others,
    :workspace_row(w), w.locked_reason,
    (
        select coalesce((
            select case
                when t.kind = 'owners' or t.visibility = 'organization' then 'the team ' || t.name
                else 'a team'
            end
            from teams t
            where t.user_id = u.id and t.kind in ('owners', 'team')
        ), u.username)
        from users u
        where u.id = w.locked_by
    ) as locked_by,
    w.name as workspace,
    (select name from organizations where id = w.organization_id) as organization,
    h.run_id as hold_run, h.worker as hold_worker, h.engine_ended as hold_engine_ended,
    h.settled_at is not null as hold_settled,
    m.reason as maintenance_reason,
    to_char(m.since at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') as maintenance_since,
    g.id is not null as git_waiting, g.error as git_error,
    j.id as job_id,
    not r.plan_only and :epoch_is_young(:lease_seconds) as failover,
    j.id is not null and :job_key_is_missing(j, :keys) as key_missing,
    case when x.total <= :max_position then x.place end as place,
    least(x.total, :max_position) as places,
    (x.place * p.job_seconds / greatest(p.slots, 1))::bigint as eta_seconds,
    :sql_time(now() + make_interval(secs => (x.place * p.job_seconds / greatest(p.slots, 1))::float8)) as eta,
    (
        select to_char(x.opens_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"')
        from window_waits x
        where x.run_id = r.id
    ) as window_opens,
    case
        when r.stopping > 0 then (
            select k.name from jobs s join workers k on k.id = s.worker_id where s.run_id = r.id
        )
    end as stop_worker,
    extract(epoch from now() - r.canceled_at)::bigint as stop_seconds,
    coalesce((select i.creator_suspended from run_inputs i where i.run_id = r.id), false) as creator_suspended,
    o.runs as quota,
    case when o.runs is not null then :organization_running(r.organization_id) end as running,
    p.name as pool, p.drained_at is not null as drained,
    to_char(p.drained_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') as drained_since,
    p.live, p.accepting, p.willing, p.slots, p.free,
    to_char(p.last_seen at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') as last_seen,
    p.quota as pool_quota, p.running as pool_running
from asked r
join workspaces w on w.id = r.workspace_id
cross join maintenance m
left join workspace_holds h on h.job_id = w.hold_job_id
left join lateral (
    select q.*
    from runs q
    where r.queued and not r.plan_only
        and q.id = coalesce(w.current_run_id, (
            select f.id
            from runs f
            where f.workspace_id = r.workspace_id and f.queued and not f.plan_only and f.position < r.position
            order by f.position
            limit 1
        ))
        and q.id <> r.id
) b on true
cross join lateral (
    -- The right that a decision needs: to override policies, or to apply. Of a queued run, the run before it.
    select case
        when r.queued then case
            when b.status = 'policy_override' then 12
            when b.status = 'planned_and_saved' or b.stage = 'confirm' and not b.underway then 3
        end
        else case
            when r.status = 'policy_override' then 12
            when r.status = 'planned_and_saved' or r.stage = 'confirm' and not r.underway then 3
        end
    end as bit
) d
cross join lateral (
    select count(*) as team_count, string_agg(t.name, ', ' order by t.n) filter (where t.n <= 3) as teams
    from (
        select t.name, row_number() over (order by t.kind, t.name) as n
        from teams t
        where d.bit is not null and t.organization_id = r.organization_id
            and (t.kind = 'owners' or t.kind = 'team' and t.visibility = 'organization')
            and (
                t.rights & (1::bigint << d.bit) <> 0
                or exists (
                    select 1
                    from team_workspaces a
                    where a.team_id = t.id and a.workspace_id = w.id and a.rights & (1::bigint << d.bit) <> 0
                )
                or exists (
                    select 1
                    from team_projects a
                    where a.team_id = t.id and a.project_id = w.project_id and a.rights & (1::bigint << d.bit) <> 0
                )
            )
        order by n
        limit 4
    ) t
) e
left join lateral (
    select t.task_name, t.delivery = 'acknowledged' as taken,
        extract(epoch from now() - (t.status_timestamps ->> 'running-at')::timestamptz)::bigint as seconds,
        extract(epoch from t.due_at - (t.status_timestamps ->> 'running-at')::timestamptz)::bigint as limit_seconds,
        count(*) over () - 1 as others
    from task_results t
    where r.status like '%running' and t.run_id = r.id and t.stage = r.stage
        and t.status in ('pending', 'running')
    order by t.due_at, t.id
    limit 1
) t on true
left join waiting j on j.run_id = r.id
left join pools p on p.id = j.pool_id and p.stage = j.stage
left join places x on x.id = j.id
left join lateral (
    select g.id, g.error
    from run_inputs i
    join configuration_commits k on k.configuration_version_id = i.configuration_version_id
    join git_jobs g on g.content_id = k.content_id and g.kind = 'fetch'
    where r.status = 'fetching' and i.run_id = r.id and g.state = 'waiting'
) g on true
left join run_quotas o on o.organization_id = r.organization_id and j.id is not null;
