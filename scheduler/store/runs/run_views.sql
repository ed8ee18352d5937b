-- SPDX-License-Identifier: MPL-2.0

-- fragment: operation_view()
select o.*, r.organization_id, r.workspace_id, r.has_changes, i.json_log,
    (
        select coalesce(jsonb_agg(s.id order by s.created_at desc), '[]')
        from state_versions s
        where s.run_id = o.run_id and s.status <> 'detached'
    ) as states,
    (
        select coalesce(jsonb_agg(s.id), '[]')
        from state_versions s
        where s.run_id = o.run_id and s.status = 'detached'
    ) as kept_states,
    (
        select coalesce(jsonb_agg(e.id order by e.created_at desc), '[]')
        from plan_exports e
        where e.run_id = o.run_id
    ) as exports, i.pool_id, a.name as pool_name, a.organization_id is not null as by_agents
from operations o
join runs r on r.id = o.run_id
join run_inputs i on i.run_id = o.run_id
left join agent_pools a on a.id = i.pool_id;

-- fragment: run_views_site_columns()
select r.id, r.workspace_id, o.name as organization_name, r.status, r.status_timestamps, r.has_changes,
    r.created_at
from runs r
join organizations o on o.id = r.organization_id
join workspaces w on w.id = r.workspace_id;

-- statement: run_views_ask
-- takes: ids text[], user text
-- gives: id text, workspace_id text, organization_id text, position bigint, status text, stage text,
-- stages integer, plan_only boolean, save_plan boolean, auto_apply boolean, allow_empty_apply boolean,
-- has_changes boolean, underway boolean, queued boolean, stopping smallint, holds boolean, ended boolean,
-- status_timestamps jsonb, canceled_at timestamptz null, force_cancel_available_at timestamptz null,
-- saved boolean, ended_at timestamptz null, created_at timestamptz, updated_at timestamptz,
-- hold_stop smallint null, hold_engine_ended boolean, hold_past_deadline boolean, hold_settled boolean,
-- hold_restored boolean, hold_unrecorded boolean, rights bigint, configuration_version_id text, message text,
-- source text, trigger_reason text, is_destroy boolean, refresh boolean, refresh_only boolean,
-- allow_config_generation boolean, json_log boolean, target_addrs jsonb null, replace_addrs jsonb null,
-- policy_paths jsonb, invoke_action_addrs jsonb, terraform_version text, variables_sealed bytea null,
-- error text null, created_by text null, confirmed_by text null, canceled_by text null, applied jsonb,
-- base_state_id text null, cooled_off boolean, queue_position bigint, task_stages jsonb, cost_estimate_id text,
-- policy_checks jsonb, comments jsonb, events jsonb
select r.*, :hold_columns(), :rights_in_workspace(:user, r.organization_id, r.workspace_id) as rights,
    i.configuration_version_id, i.message, i.source, i.trigger_reason, i.is_destroy, i.refresh,
    i.refresh_only, i.allow_config_generation, i.json_log, i.target_addrs, i.replace_addrs,
    i.policy_paths, i.invoke_action_addrs,
    coalesce(nullif(p.terraform_version, ''), i.terraform_version) as terraform_version,
    i.variables_sealed, i.error, i.created_by, i.confirmed_by, i.canceled_by, case
    when r.status in ('canceled', 'force_canceled')
    and r.stage in ('apply', 'post_apply') then (
        select jsonb_build_array(a.additions, a.changes, a.destructions)
        from operations a
        where a.id = 'apply' || substr(r.id, 4)
    ) end as applied, p.base_state_id,
    coalesce(r.force_cancel_available_at <= now(), false) as cooled_off, case
    when r.queued then 1 + (
        select count(*)
        from runs b
        where b.workspace_id = r.workspace_id and b.queued and b.position < r.position
    ) else 0 end as queue_position, case when r.stages = 0 then '[]'
    else (
        select coalesce(jsonb_agg(t.id order by array_position(
                    array['pre_plan', 'post_plan', 'pre_apply', 'post_apply'], t.stage)), '[]')
        from task_stages t
        where t.run_id = r.id
    ) end as task_stages, case when r.stages = 0 then null
    else (select ce.id from cost_estimates ce where ce.run_id = r.id) end as cost_estimate_id, case
    when r.stages = 0 then '[]'
    else (
        select coalesce(jsonb_agg(e.id), '[]')
        from policy_evaluations e
        where e.run_id = r.id and e.kind = 'sentinel'
    ) end as policy_checks,
    array_to_json(array(select c.id from comments c where c.run_id = r.id order by c.created_at)) as comments,
    array_to_json(array(select e.id from run_events e where e.run_id = r.id order by e.created_at)) as events
from runs r
join run_inputs i on i.run_id = r.id
join operations p on p.id = 'plan' || substr(r.id, 4) :hold_join()
where r.id = any(:ids::text[]);

-- statement: run_belongs
-- takes: run_id text, workspace_id text
select 1 from runs where id = :run_id and workspace_id = :workspace_id;

-- statement: run_views_ask_count
-- takes: workspace_id text
-- gives: total bigint
select count(*) as total from runs where workspace_id = :workspace_id and not plan_only;

-- statement: runs_recent_of
-- takes: workspace_ids text[], user text
-- gives: workspace_id text, runs jsonb
select w.id as workspace_id,
    (
        select coalesce(
            jsonb_agg(jsonb_build_object('id', r.id, 'status', r.status) order by r.position desc), '[]')
        from (
            select id, status, position
            from runs
            where workspace_id = w.id and not plan_only
            order by position desc
            limit 10
        ) r
    ) as runs
from workspaces w
where w.id = any(:workspace_ids::text[])
    and :scope_has(:user, :rights_in_workspace(:user, w.organization_id, w.id), 2);

-- shape: operation
-- id text, run_id text, status text, status_timestamps jsonb, additions integer null, changes integer null,
-- destructions integer null, imports integer null, terraform_version text null, worker_id text null,
-- worker_name text null, log_length bigint, log_ended boolean, base_state_id text null,
-- generated_configuration boolean, log_blob text null, log_deleted_at timestamptz null,
-- plan_deleted_at timestamptz null, upload_hash text null, engine text, organization_id text,
-- workspace_id text, has_changes boolean, json_log boolean, states jsonb, kept_states jsonb, exports jsonb,
-- pool_id text null, pool_name text, by_agents boolean

-- statement: operation_view
-- takes: operation_id text
-- gives: operation
:operation_view() where o.id = :operation_id;

-- statement: operation_views_of
-- takes: ids text[]
-- gives: operation
:operation_view() where o.id = any(:ids::text[]);

-- statement: run_secrets
-- takes: run_id text
-- gives: run_id text, snapshot_sealed bytea
select run_id, snapshot_sealed
from run_inputs
where run_id = :run_id
    or run_id = (
        select s.run_id
        from operations o
        join state_versions s on s.id = o.base_state_id
        where o.id = 'plan' || substr(:run_id, 4)
    );

-- shape: site_runs_list
-- id text, workspace_id text, organization_name text, status text, status_timestamps jsonb,
-- has_changes boolean, created_at timestamptz

-- statement: site_runs_list_read
-- takes: run_id text, limit bigint, offset bigint
-- gives: site_runs_list
:run_views_site_columns() where r.id = :run_id limit :limit offset :offset;

-- statement: site_runs_list_read_2
-- takes: statuses text, search text, from timestamptz, to timestamptz, limit bigint, offset bigint
-- gives: site_runs_list
:run_views_site_columns()
where (:statuses::text is null or r.status = any(string_to_array(:statuses, ',')))
    and (:search::text is null or strpos(lower(w.name), lower(:search)) > 0
            or strpos(lower(o.name), lower(:search)) > 0)
    and (:from::timestamptz is null or r.created_at >= :from)
    and (:to::timestamptz is null or r.created_at <= :to)
order by r.position desc
limit :limit
offset :offset;
