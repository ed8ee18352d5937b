-- SPDX-License-Identifier: MPL-2.0

-- fragment: policy_set_tagged(set, workspace, condition)
-- Whether the workspace has, or inherits, a tag that one of the set's selectors `x` names.
exists (
    select 1
    from policy_set_tag_selectors x
    join effective_tags e on e.workspace_id = :workspace and e.key = x.key and e.value = x.value
    where x.policy_set_id = :set and :condition
);

-- statement: policy_runs_create
-- Creates the run's evaluations, one per kind of policy, each with a copy of the sets that apply; returns the
-- kinds. The organization's sets, and what belongs to each, are found in the indexes that begin with their
-- owner's id. A set applies if it is global or attached to the workspace, its project or one of its tags, unless
-- the workspace, its project or one of its tags is excluded.
-- index: policy_set_parameters_policy_set_id_key_key, policy_set_projects_project,
-- policy_set_tag_selectors_pkey, policy_set_workspaces_workspace, policy_sets_name, tool_versions_version
-- takes: run_id text, workspace_id text
-- gives: kind text
with own as (
    select s.*
    from policy_sets s
    join workspaces w on w.organization_id = s.organization_id
    where w.id = :workspace_id
        and (
            s.global
            or exists (
                select 1
                from policy_set_workspaces x
                where x.policy_set_id = s.id and x.workspace_id = w.id and not x.excluded
            )
            or exists (
                select 1
                from policy_set_projects x
                where x.policy_set_id = s.id and x.project_id = w.project_id and not x.excluded
            )
            or :policy_set_tagged(s.id, w.id, not x.excluded)
        )
        and not exists (
            select 1
            from policy_set_workspaces x
            where x.policy_set_id = s.id and x.workspace_id = w.id and x.excluded
        )
        and not exists (
            select 1
            from policy_set_projects x
            where x.policy_set_id = s.id and x.project_id = w.project_id and x.excluded
        )
        and not :policy_set_tagged(s.id, w.id, x.excluded)
),
sets as (
    select s.kind, s.name,
        jsonb_build_object(
            'id', s.id, 'name', s.name, 'description', s.description, 'overridable', s.overridable,
            'tool-version', s.policy_tool_version,
            'tool-archs', (
                select t.archs
                from tool_versions t
                where t.tool = s.kind and t.enabled and t.version = ltrim(s.policy_tool_version, '=v ')
            ),
            'policies-path', s.policies_path,
            'archive', (select v.blob_id from policy_set_versions v where v.id = s.current_version_id),
            'policies', (
                select coalesce(jsonb_agg(
                    jsonb_build_object(
                        'id', p.id, 'name', p.name, 'description', p.description, 'query', p.query,
                        'enforcement', p.enforcement, 'blob', p.blob_id
                    ) order by p.name
                ), '[]')
                from policy_set_policies m
                join policies p on p.id = m.policy_id
                where m.policy_set_id = s.id and p.blob_id is not null
            ),
            'parameters', (
                select coalesce(jsonb_agg(
                    jsonb_build_object(
                        'id', a.id, 'key', a.key, 'sensitive', a.sensitive,
                        'sealed', encode(a.value_sealed, 'base64')
                    ) order by a.key
                ), '[]')
                from policy_set_parameters a
                where a.policy_set_id = s.id
            )
        ) as document
    from own s
)
insert into policy_evaluations (id, run_id, kind, bundle)
select case kind when 'opa' then 'poleval-' else 'polchk-' end || substr(md5(:run_id || kind), 1, 16),
    :run_id, kind, jsonb_agg(document order by name)
from sets
group by kind
returning kind;

-- statement: policy_runs_add_stage
-- The task stage that shows OPA's evaluation; the run may have it for its run tasks.
-- takes: run_id text
insert into task_stages (id, run_id, stage)
values ('ts-' || substr(md5(:run_id || 'post_plan'), 1, 16), :run_id, 'post_plan')
on conflict (run_id, stage) do nothing;

-- statement: policy_run_facts
-- One row: the facts about a run with the names of the API (proto/README, Policies), but for `variables`, and
-- what is sealed of its variables. Every join is by a primary or unique key; tags are found by their workspace
-- or project.
-- index: cost_estimates_run_id_key, tag_bindings_project, tag_bindings_workspace
-- takes: run_id text
-- gives: id text, run jsonb, snapshot_sealed bytea, variables_sealed bytea null
select r.id,
    jsonb_build_object(
        'id', r.id, 'message', i.message,
        'created-at', to_char(r.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
        'created-by', u.username,
        'commit-sha', (
            select k.sha
            from configuration_commits k
            where k.configuration_version_id = i.configuration_version_id
        ),
        'is-destroy', i.is_destroy, 'refresh', i.refresh, 'refresh-only', i.refresh_only,
        'speculative', r.plan_only,
        'replace-addrs', nullif(i.replace_addrs, '[]'), 'target-addrs', nullif(i.target_addrs, '[]'),
        'project', jsonb_build_object('id', p.id, 'name', p.name),
        'organization', jsonb_build_object('name', o.name),
        'workspace', jsonb_build_object(
            'id', w.id, 'name', w.name,
            'created-at', to_char(w.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
            'description', nullif(w.description, ''), 'execution-mode', w.execution_mode,
            'auto-apply', w.auto_apply, 'working-directory', nullif(w.working_directory, ''),
            'tags', (
                select coalesce(jsonb_agg(t.key order by t.key), '[]')
                from effective_tags t
                where t.workspace_id = w.id and t.inherited_from is null and t.value = ''
            ),
            'tag-bindings', (
                select coalesce(jsonb_agg(
                    jsonb_build_object(
                        'key', t.key, 'value', nullif(t.value, ''), 'inherited', t.inherited_from is not null
                    ) order by t.key
                ), '[]')
                from effective_tags t
                where t.workspace_id = w.id
            ),
            'vcs-repo', (
                select jsonb_build_object(
                    'identifier', v.identifier, 'display-identifier', v.identifier, 'branch', c.branch,
                    'ingress-submodules', c.ingress_submodules
                )
                from workspace_repositories c
                join vcs_repositories v on v.id = c.repository_id
                where c.workspace_id = w.id
            )
        ),
        'cost-estimate', (
            select jsonb_build_object(
                'prior-monthly-cost', c.document ->> 'prior-monthly-cost',
                'proposed-monthly-cost', c.document ->> 'proposed-monthly-cost',
                'delta-monthly-cost', c.document ->> 'delta-monthly-cost'
            )
            from cost_estimates c
            where c.run_id = r.id and c.document ->> 'status' = 'finished'
        )
    ) as run,
    i.snapshot_sealed, i.variables_sealed
from runs r
join run_inputs i on i.run_id = r.id
join workspaces w on w.id = r.workspace_id
join projects p on p.id = w.project_id
join organizations o on o.id = r.organization_id
left join users u on u.id = i.created_by
where r.id = :run_id;

-- statement: policy_run_bundle
-- The copy of the sets that apply to the run.
-- index: policy_evaluations_run_id_kind_key
-- takes: run_id text, kind text
-- gives: bundle jsonb
select bundle from policy_evaluations where run_id = :run_id and kind = :kind;

-- statement: policy_outcome_keep
-- Writes the outcome of one of the evaluation's sets; a later one replaces it.
-- index: policy_evaluations_pkey
-- takes: evaluation_id text, set_id text, outcomes jsonb, error text, counts jsonb
insert into policy_set_outcomes
    (id, policy_evaluation_id, policy_set_id, name, description, overridable, outcomes, error, result_count)
select 'psout-' || substr(md5(:evaluation_id || :set_id), 1, 16), :evaluation_id, :set_id,
    s ->> 'name', s ->> 'description', (s ->> 'overridable')::boolean, :outcomes::jsonb, :error, :counts::jsonb
from policy_evaluations e, jsonb_array_elements(e.bundle) s
where e.id = :evaluation_id and s ->> 'id' = :set_id
on conflict (id) do update set outcomes = excluded.outcomes, error = excluded.error,
    result_count = excluded.result_count;

-- statement: policy_evaluation_lock
-- Locks the evaluation.
-- index: policy_evaluations_run_id_kind_key
-- takes: run_id text, kind text
-- gives: id text
select id from policy_evaluations where run_id = :run_id and kind = :kind for update;

-- statement: policy_evaluation_keep
-- Writes the result of the evaluation.
-- index: policy_evaluations_pkey
-- takes: id text, counts jsonb, result jsonb, output text
update policy_evaluations
set result_count = :counts::jsonb, result = :result::jsonb, output = :output, updated_at = now()
where id = :id;
