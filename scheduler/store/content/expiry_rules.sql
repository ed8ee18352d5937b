-- SPDX-License-Identifier: MPL-2.0

-- fragment: expiry_rules_runs()
-- A policy with days does not apply to these, so the site's options do. A policy without days keeps them.
with due as (
    select r.id, r.organization_id
    from runs r
    join workspace_retention k on k.workspace_id = r.workspace_id
    where r.id = any(:ids::text[]) and (k.policy_id is null or k.days is not null)
);

-- fragment: expiry_rules_followed(table)
-- Workspaces to which the rule applies, and the time of the newest version that the scan has reached in each.
with seen as (
    select workspace_id, max(created_at) as newer
    from :table
    where id = any(:ids::text[])
    group by workspace_id
),
held as (
    select s.workspace_id, s.newer, k.organization_id
    from seen s
    join workspace_retention k on k.workspace_id = s.workspace_id
    where case when :by_policy::boolean then k.days = :days::bigint else k.policy_id is null end
),;

-- shape: expired
-- organization_id text null, id text

-- statement: expiry_logs
-- Deletes the logs of ended runs.
-- index: data_retention_policies_organization_id_key, data_retention_policies_workspace_id_key, operations_run
-- takes: ids text[]
-- gives: expired
:expiry_rules_runs(),
    gone as (
        update operations o
        set log_deleted_at = now(), log_blob = null
        from due
        where o.run_id = due.id and o.log_ended and o.log_length > 0 and o.log_deleted_at is null
        returning due.organization_id, o.id
    ), chunks as (delete from log_chunks c using gone where c.operation_id = gone.id)
select organization_id, id
from gone
order by organization_id;

-- statement: expiry_plan_files
-- Deletes the data of ended runs that only an apply needs.
-- index: data_retention_policies_organization_id_key, data_retention_policies_workspace_id_key
-- takes: ids text[]
-- gives: expired
:expiry_rules_runs(),
    gone as (
        delete from operation_blobs b
        using due
        where b.operation_id = 'plan' || substr(due.id, 4) and b.kind in ('plan', 'init')
        returning due.organization_id, b.operation_id as id
    )
select distinct organization_id, id
from gone
order by organization_id;

-- statement: expiry_plans
-- Deletes the plans as JSON of ended runs, and the providers' schemas.
-- index: data_retention_policies_organization_id_key, data_retention_policies_workspace_id_key
-- takes: ids text[]
-- gives: expired
:expiry_rules_runs(),
    gone as (
        update operations o
        set plan_deleted_at = now()
        from due
        join operation_blobs b on b.operation_id = 'plan' || substr(due.id, 4) and b.kind = 'json'
        where o.id = b.operation_id
        returning due.organization_id, o.id
    ), blobs as (
        delete from operation_blobs b
        using gone
        where b.operation_id = gone.id and b.kind in ('json', 'schemas', 'changes')
    )
select organization_id, id
from gone
order by organization_id;

-- statement: expiry_old_states
-- Hides states that have a newer one, but for the :states_newest newest ones of a workspace, its current one,
-- and those that a run or a hold needs. A state with status detached loses its job_id: the unique index
-- state_versions_job would otherwise reject its new status if the job has another state. No worker sends the
-- state again, because no hold refers to the job any more.
-- index: data_retention_policies_organization_id_key, data_retention_policies_workspace_id_key, operations_run,
-- runs_active, runs_saved, state_versions_kept
-- takes: ids text[], by_policy boolean, days bigint, states_newest bigint
-- gives: expired
:expiry_rules_followed(state_versions) old as (
    select o.id, h.organization_id
    from held h
    join workspaces w on w.id = h.workspace_id
    join state_versions o on o.workspace_id = h.workspace_id and o.status in ('finalized', 'detached')
        and o.created_at < h.newer
        and o.created_at <= (
            select k.created_at
            from state_versions k
            where k.workspace_id = h.workspace_id and k.status = 'finalized'
            order by k.created_at desc
            offset :states_newest::bigint
            limit 1
        )
    where o.id is distinct from w.current_state_id
        and not exists (
            select 1 from workspace_holds x where o.status = 'detached' and x.job_id = o.job_id
        )
        and not exists (
            select 1
            from runs r
            join operations p on p.run_id = r.id
            where r.workspace_id = h.workspace_id and r.holds and p.base_state_id = o.id
        )
        and not exists (
            select 1
            from runs r
            join operations p on p.run_id = r.id
            where r.workspace_id = h.workspace_id and r.saved and p.base_state_id = o.id
        )
), gone as (
    update state_versions s
    set status = 'backing_data_soft_deleted', hidden_at = now(), was_detached = s.status = 'detached',
        job_id = case s.status when 'finalized' then s.job_id end
    from old
    where s.id = old.id and s.status in ('finalized', 'detached')
    returning old.organization_id, s.id
)
select organization_id, id
from gone
order by organization_id;

-- statement: expiry_old_configurations
-- Hides configuration versions that have a newer one, but for the current one of a workspace, and those that a
-- run needs.
-- index: configuration_versions_kept, data_retention_policies_organization_id_key,
-- data_retention_policies_workspace_id_key, run_inputs_configuration
-- takes: ids text[], by_policy boolean, days bigint
-- gives: expired
:expiry_rules_followed(configuration_versions) old as (
    select o.id, h.organization_id
    from held h
    join workspaces w on w.id = h.workspace_id
    join configuration_versions o on o.workspace_id = h.workspace_id and o.status = 'uploaded'
        and o.created_at < h.newer
    where o.id is distinct from w.current_configuration_id
        and not exists (
            select 1
            from run_inputs i
            join runs r on r.id = i.run_id
            where i.configuration_version_id = o.id and not r.ended
        )
), gone as (
    update configuration_versions c
    set status = 'backing_data_soft_deleted', hidden_at = now()
    from old
    where c.id = old.id and c.status = 'uploaded'
    returning old.organization_id, c.id
)
select organization_id, id
from gone
order by organization_id;

-- fragment: expiry_hidden(table)
-- Locks what was hidden :days ago, at most :max.
with due as (
    select id
    from :table
    where status = 'backing_data_soft_deleted' and hidden_at <= now() - make_interval(days => :days::int)
    order by hidden_at
    limit :max
    for update skip locked
),;

-- statement: expiry_hidden_states
-- Deletes the content of hidden states for good.
-- index: state_version_outputs_state, state_versions_hidden
-- takes: days integer, max bigint
-- gives: expired
:expiry_hidden(state_versions) outputs as (
    delete from state_version_outputs o using due where o.state_version_id = due.id
), gone as (
    update state_versions s
    set blob_id = null, json_blob_id = null, status = 'backing_data_permanently_deleted'
    from due
    where s.id = due.id
    returning s.id, s.workspace_id
)
select w.organization_id, g.id
from gone g
join workspaces w on w.id = g.workspace_id
order by w.organization_id;

-- statement: expiry_hidden_configurations
-- The same for configuration versions.
-- index: configuration_versions_hidden
-- takes: like expiry_hidden_states
-- gives: expired
:expiry_hidden(configuration_versions) gone as (
    update configuration_versions c
    set blob_id = null, status = 'backing_data_permanently_deleted'
    from due
    where c.id = due.id
    returning c.id, c.workspace_id
)
select w.organization_id, g.id
from gone g
join workspaces w on w.id = g.workspace_id
order by w.organization_id;
