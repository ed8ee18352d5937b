-- SPDX-License-Identifier: MPL-2.0

-- fragment: task_stage_view(user)
-- The columns of the shape task_stage. The post_plan stage also shows the evaluation of OPA policies, which may bar
-- an override.
select s.*, n.organization_id, n.workspace_id, n.status as run_status, n.stage as run_stage,
    :rights_in_workspace(:user, n.organization_id, n.workspace_id) as rights,
    (
        select coalesce(jsonb_agg(r.id order by r.task_name), '[]')
        from task_results r
        where r.task_stage_id = s.id
    ) as results,
    case when e.id is null then '[]' else jsonb_build_array(e.id) end as evaluations,
    e.status as evaluation_status,
    exists (
        select 1
        from policy_set_outcomes o
        where o.policy_evaluation_id = e.id and not o.overridable
            and (
                o.error is not null
                or exists (
                    select 1
                    from jsonb_array_elements(o.outcomes) x
                    where x ->> 'enforcement_level' = 'mandatory' and x ->> 'status' <> 'passed'
                )
            )
    ) as override_barred
from task_stages s
join runs n on n.id = s.run_id
left join policy_evaluations e on e.run_id = s.run_id and e.kind = 'opa' and s.stage = 'post_plan';

-- fragment: task_result_view()
-- The columns of the shape task_result. delivery_error: why the last try failed of a request that is tried again.
select r.*, n.organization_id, n.workspace_id, n.plan_only,
    (
        select coalesce(jsonb_agg(o.id order by o.position), '[]')
        from task_result_outcomes o
        where o.task_result_id = r.id
    ) as outcomes,
    case when r.status = 'pending' and r.delivery in ('waiting', 'claimed') then (
            select d.error
            from task_deliveries d
            where d.task_result_id = r.id
            order by d.id desc
            limit 1
        ) end as delivery_error
from task_results r
join runs n on n.id = r.run_id;

-- shape: task_stage
-- id text, run_id text, stage text, status text, status_timestamps jsonb, created_at timestamptz,
-- updated_at timestamptz, organization_id text, workspace_id text, run_status text, run_stage text,
-- rights bigint, results jsonb, evaluations jsonb, evaluation_status text null, override_barred boolean

-- statement: task_stages_of_run
-- In the order in which they run.
-- index: policy_evaluations_run_id_kind_key, policy_set_outcomes_evaluation, task_results_stage,
-- task_stages_run_id_stage_key, team_members_user, team_projects_project
-- takes: run_id text, user text
-- gives: task_stage
:task_stage_view(:user)
where s.run_id = :run_id
order by array_position(array['pre_plan', 'post_plan', 'pre_apply', 'post_apply'], s.stage);

-- statement: task_stage_views_of
-- Task stages by their ids.
-- index: policy_evaluations_run_id_kind_key, policy_set_outcomes_evaluation, task_results_stage,
-- team_members_user, team_projects_project, team_workspaces_workspace
-- takes: ids text[], user text
-- gives: task_stage
:task_stage_view(:user) where s.id = any(:ids::text[]);

-- statement: task_stage_view
-- One task stage.
-- index: policy_evaluations_run_id_kind_key, policy_set_outcomes_evaluation, task_results_stage,
-- team_members_user, team_projects_project, team_workspaces_workspace
-- takes: stage_id text, user text
-- gives: task_stage
:task_stage_view(:user) where s.id = :stage_id;

-- shape: task_result
-- id text, task_stage_id text, run_id text, stage text, task_id text, workspace_task_id text null,
-- task_name text, task_url text, enforcement text, hmac_sealed bytea null, pool_id text null, status text,
-- status_timestamps jsonb, message text null, url text null, delivery text, attempt integer, notifier text
-- null, token_hash text null, give_up_at timestamptz null, lease_until timestamptz null, due_at timestamptz
-- null, last_at timestamptz null, reported jsonb null, created_at timestamptz, updated_at timestamptz,
-- organization_id text, workspace_id text, plan_only boolean, outcomes jsonb, delivery_error text null

-- statement: task_result_views_of
-- Results by their ids, sorted by the names of their tasks.
-- index: task_deliveries_result, task_result_outcomes_result
-- takes: ids text[]
-- gives: task_result
:task_result_view() where r.id = any(:ids::text[]) order by r.task_name, r.id;

-- statement: task_results_view
-- The named results, and those of the stage.
-- index: task_deliveries_result, task_result_outcomes_result, task_results_stage
-- takes: ids text[], stage_id text
-- gives: task_result
:task_result_view()
where r.id in (
    select unnest(:ids::text[])
    union all
    select x.id
    from task_results x
    where x.task_stage_id = :stage_id
)
order by r.task_name, r.id;

-- shape: task_outcome
-- id text, task_result_id text, position integer, outcome_id text, description text, url text null,
-- tags jsonb, body text null optional, organization_id text optional, workspace_id text optional

-- statement: task_outcomes_view
-- The outcomes of a result, in their order, without their bodies, which may be large.
-- index: task_result_outcomes_result
-- takes: task_result_id text
-- gives: task_outcome
select id, task_result_id, position, outcome_id, description, url, tags
from task_result_outcomes
where task_result_id = :task_result_id
order by position, id;

-- statement: task_outcome_view
-- One outcome with the place of its run.
-- index: runs_pkey, task_result_outcomes_pkey, task_results_pkey
-- takes: id text
-- gives: task_outcome
select o.*, n.organization_id, n.workspace_id
from task_result_outcomes o
join task_results r on r.id = o.task_result_id
join runs n on n.id = r.run_id
where o.id = :id;

-- statement: task_deliveries_view
-- The last 100 requests of a result, the newest first.
-- index: task_deliveries_result
-- takes: task_result_id text
-- gives: id bigint, sent_at timestamptz, status integer, seconds double precision, answer text null,
-- error text null
select id, sent_at, status, seconds, answer, error
from task_deliveries
where task_result_id = :task_result_id
order by id desc
limit 100;

-- statement: task_result_redeliver
-- Lets notifiers claim the result again, if it is open and its stage has begun.
-- index: task_results_pkey
-- takes: id text, delivery_seconds double precision
-- gives: run_id text
update task_results
set delivery = 'waiting', due_at = null, updated_at = now(),
    give_up_at = now() + make_interval(secs => :delivery_seconds)
where id = :id and reported is null and status in ('pending', 'running') and delivery <> 'none'
returning run_id;
