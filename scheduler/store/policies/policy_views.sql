-- SPDX-License-Identifier: MPL-2.0

-- shape: policy_evaluation
-- id text, run_id text, kind text, status text, status_timestamps jsonb, bundle jsonb, result_count jsonb,
-- result jsonb null, output text, overridden_by text null, created_at timestamptz, updated_at timestamptz,
-- organization_id text, workspace_id text, run_status text, run_stage text, rights bigint,
-- task_stage_id text null, outcomes jsonb, sets jsonb, took bigint

-- fragment: policy_evaluations(user)
-- The columns of the shape policy_evaluation. `took`: the milliseconds from the first to the last status timestamp. The
-- override's timestamp is excluded, since a user sets it later.
select e.*, n.organization_id, n.workspace_id, n.status as run_status, n.stage as run_stage,
    :rights_in_workspace(:user, n.organization_id, n.workspace_id) as rights,
    (select t.id from task_stages t where t.run_id = e.run_id and t.stage = 'post_plan') as task_stage_id,
    coalesce(s.ids, '[]') as outcomes, coalesce(s.sets, '[]') as sets,
    (
        select coalesce(extract(epoch from max(value::timestamptz) - min(value::timestamptz)) * 1000, 0)::bigint
        from jsonb_each_text(e.status_timestamps)
        where key <> 'overridden-at'
    ) as took
from policy_evaluations e
join runs n on n.id = e.run_id
left join lateral (
    select jsonb_agg(o.id order by o.name, o.id) as ids,
        jsonb_agg(
            jsonb_build_object(
                'name', o.name, 'overridable', o.overridable, 'outcomes', o.outcomes, 'error', o.error
            ) order by o.name, o.id
        ) as sets
    from policy_set_outcomes o
    where o.policy_evaluation_id = e.id
) s on true;

-- statement: policy_evaluations_view
-- The run's evaluation of one kind: none or one row.
-- index: policy_evaluations_run_id_kind_key, policy_set_outcomes_evaluation, task_stages_run_id_stage_key,
-- team_members_user, team_projects_project, team_workspaces_workspace
-- takes: run_id text, kind text, user text
-- gives: policy_evaluation
:policy_evaluations(:user) where e.run_id = :run_id and e.kind = :kind;

-- statement: policy_evaluation_view
-- One evaluation of that kind.
-- index: policy_set_outcomes_evaluation, task_stages_run_id_stage_key, team_members_user,
-- team_projects_project, team_workspaces_workspace, teams_organization
-- takes: id text, kind text, user text
-- gives: policy_evaluation
:policy_evaluations(:user) where e.id = :id and e.kind = :kind;

-- statement: policy_evaluation_views_of
-- Evaluations by their ids.
-- index: policy_set_outcomes_evaluation, task_stages_run_id_stage_key, team_members_user,
-- team_projects_project, team_workspaces_workspace, teams_organization
-- takes: ids text[], user text
-- gives: policy_evaluation
:policy_evaluations(:user) where e.id = any(:ids::text[]);

-- shape: policy_outcome
-- id text, policy_evaluation_id text, policy_set_id text, name text, description text, overridable boolean,
-- outcomes jsonb, error text null, result_count jsonb, organization_id text optional,
-- workspace_id text optional

-- statement: policy_outcomes_view
-- The outcomes of an evaluation, one per policy set, by name.
-- index: policy_set_outcomes_evaluation
-- takes: evaluation_id text
-- gives: policy_outcome
select * from policy_set_outcomes where policy_evaluation_id = :evaluation_id order by name, id;

-- statement: policy_outcome_view
-- One outcome with the place of its run.
-- index: policy_evaluations_pkey, policy_set_outcomes_pkey, runs_pkey
-- takes: id text
-- gives: policy_outcome
select o.*, n.organization_id, n.workspace_id
from policy_set_outcomes o
join policy_evaluations e on e.id = o.policy_evaluation_id
join runs n on n.id = e.run_id
where o.id = :id;
