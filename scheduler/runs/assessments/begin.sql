-- SPDX-License-Identifier: MPL-2.0

-- fragment: assessment_period(o)
-- The time between two assessments of a workspace in organization `o`.
coalesce(nullif((:o.settings ->> 'assessment-hours')::bigint, 0), :hours) * interval '1 hour';

-- fragment: assessment_enabled(w, o)
-- Whether workspace `w` of organization `o` is assessed.
(coalesce((:w.settings ->> 'assessments-enabled')::boolean, false)
    or coalesce((:o.settings ->> 'assessments-enforced')::boolean, false));

-- fragment: last_applied(w)
-- The newest applied run of workspace `w`.
select i.configuration_version_id
from runs r
join run_inputs i on i.run_id = r.id
where r.workspace_id = :w.id and r.status = 'applied'
order by r.position desc
limit 1;

-- fragment: assessment_refusal(w, o)
-- Why workspace `w` of organization `o` is not assessed (refusals.def); null: it can be.
case
    when :o.is_disabled then 'disabled'
    when :w.execution_mode = 'local' then 'local'
    when :w.terraform_version ~ '^[=v ]*0[.](\d|1[0-4])[.]' then 'engine'
    when not exists (:last_applied(:w)) then 'never-applied'
    when :w.resource_count = 0 then 'no-resources'
    when :w.hold_job_id is not null then 'held'
    when :w.current_run_id is not null or :w.has_queue
        or exists (
            select 1
            from runs r
            where r.workspace_id = :w.id and not r.ended and not r.saved and :run_is_shown(r)
        ) then 'busy'
    when (
            select r.status
            from runs r
            where r.workspace_id = :w.id and :run_is_shown(r)
            order by r.position desc
            limit 1
        ) in ('errored', 'canceled', 'force_canceled', 'discarded', 'policy_soft_failed') then 'last-run'
end;

-- fragment: assessment_due(w, o)
-- When workspace `w` of organization `o` is due: a period after its last change and its last assessment.
greatest(
    :w.latest_change_at, (select created_at from assessment_results where id = :w.assessment_id)
) + :assessment_period(:o);

-- shape: assessment_look
-- workspace text, wait double precision, refusal text null, configuration text null, enabled boolean

-- fragment: assessment_looks()
-- `wait`: seconds until it is due; negative if it is.
select w.id as workspace, extract(epoch from :assessment_due(w, o) - now())::double precision as wait,
    :assessment_refusal(w, o) as refusal, (:last_applied(w)) as configuration,
    :assessment_enabled(w, o) as enabled
from workspaces w
join organizations o on o.id = w.organization_id;

-- statement: assessments_lock_pool
-- Locks the pool, so that one scheduler at a time begins its assessments. No row: another one does so now.
-- index: agent_pools_pkey
-- takes: pool text
select 1 from agent_pools where id = :pool for no key update skip locked;

-- statement: assessments_look
-- The workspaces of the pool that are to be looked at, the longest waiting first. No lock: who creates runs locks the
-- contents of configurations first.
-- index: runs_workspace, workspaces_assess
-- takes: pool text, hours bigint, max bigint
-- gives: assessment_look
:assessment_looks()
where w.id = any(array(
        select id
        from (
            (
                select id, assess_at
                from workspaces
                where pool_id = :pool and assess_at <= now()
                order by assess_at
                limit :max
            )
            union all
            (
                select id, assess_at
                from workspaces
                where pool_id is null and assess_at <= now()
                    and (select organization_id is null from agent_pools where id = :pool)
                order by assess_at
                limit :max
            )
        ) d
    ))
    and w.assess_at <= now()
    and not exists (select 1 from assessments a where a.workspace_id = w.id)
order by w.assess_at;

-- statement: assessment_look
-- One workspace.
-- index: runs_workspace
-- takes: workspace text, hours bigint
-- gives: assessment_look
:assessment_looks() where w.id = :workspace;

-- statement: assessment_recent
-- A row if an assessment of the workspace is underway, or began within the last minute.
-- takes: workspace text
-- gives: underway boolean
select true as underway
from assessments
where workspace_id = :workspace
union all
select false
from (
    select created_at
    from assessment_results
    where workspace_id = :workspace
    order by position desc
    limit 1
) l
where l.created_at > now() - interval '1 minute'
limit 1;

-- statement: assessments_postpone
-- Sets when the workspaces are looked at next: an array of {id, seconds}.
-- index: workspaces_pkey
-- takes: looks jsonb
update workspaces w
set assess_at = case when u.seconds is not null then now() + make_interval(secs => u.seconds) end
from jsonb_to_recordset(:looks::jsonb) as u(id text, seconds double precision)
where w.id = u.id and w.id = any(array(select d.id from jsonb_to_recordset(:looks::jsonb) as d(id text)));

-- statement: assessments_insert
-- Records that runs assess their workspaces.
-- takes: runs text[], user text
insert into assessments (workspace_id, run_id, pool_id, created_by)
select r.workspace_id, r.id, i.pool_id, :user
from runs r
join run_inputs i on i.run_id = r.id
where r.id = any(:runs::text[]);
