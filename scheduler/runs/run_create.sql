-- SPDX-License-Identifier: MPL-2.0

-- fragment: any_row(rows)
-- Whether there is such a row. PostgreSQL may answer "exists" for many rows by reading the whole table once: with
-- 1,000 queued runs that is 1,438 blocks instead of 711 for 64 runs.
coalesce((select true from :rows limit 1), false);

-- fragment: run_create_workspaces()
-- The workspaces of new runs, by the indexes `n` of their orders, and what is configured for their runs. `may_apply`:
-- whether the order's actor may apply (:apply is that right), or has no user.
select u.n - 1 as n, w.id as workspace_id, w.organization_id, w.auto_apply, w.terraform_version,
    w.working_directory, w.structured_run_output, w.pool_id as own_pool_id,
    coalesce(w.pool_id, (select id from agent_pools where organization_id is null)) as pool_id,
    w.execution_mode, o.is_disabled,
    :any_row({
        tool_versions t
        where t.tool = 'terraform' and t.version = ltrim(w.terraform_version, '=v ') and not t.enabled
    }) as version_is_disabled,
    coalesce((w.settings ->> 'allow-destroy-plan')::boolean, true) as destroyable,
    :any_row(tasks t where t.organization_id = o.id) as has_tasks,
    :any_row(policy_sets s where s.organization_id = o.id) as has_policies,
    :cost_estimation(w, o) as has_costs,
    :workspace_row(w),
    u.actor is null
        or (select is_site_admin from users where id = u.actor)
        or (:rights_in_workspace(u.actor, w.organization_id, w.id)) & :apply <> 0 as may_apply,
    :workspace_is_watched(w) as watched,
    (select a.run_id from assessments a where a.workspace_id = w.id) as assessment_run_id,
    to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as now
from unnest(:workspaces::text[], :actors::text[]) with ordinality as u(workspace, actor, n)
join workspaces w on w.id = u.workspace
join organizations o on o.id = w.organization_id
order by w.id
for no key update of w;

-- shape: run_create_workspace
-- n bigint, workspace_id text, organization_id text, auto_apply boolean, terraform_version text,
-- working_directory text, structured_run_output boolean, own_pool_id text null, pool_id text,
-- execution_mode text, is_disabled boolean, version_is_disabled boolean, destroyable boolean,
-- has_tasks boolean, has_policies boolean, has_costs boolean, current_run_id text null, locked boolean,
-- held boolean, maintenance boolean, may_apply boolean, watched boolean, assessment_run_id text null, now text

-- statement: run_create_workspaces
-- Locks the workspaces.
-- index: notification_configurations_project, notification_configurations_workspace, policy_sets_name,
-- tasks_name, team_members_user, team_projects_project
-- reads: agent_pools, maintenance, site_settings
-- takes: workspaces text[], actors text[], apply bigint
-- gives: run_create_workspace
:run_create_workspaces();

-- statement: run_create_ready
-- The same, but skips workspaces that another transaction has locked.
-- index: notification_configurations_project, notification_configurations_workspace, policy_sets_name,
-- tasks_name, team_members_user, team_projects_project
-- reads: agent_pools, maintenance, site_settings
-- takes: like run_create_workspaces
-- gives: run_create_workspace
:run_create_workspaces() skip locked;

-- statement: run_create_configurations
-- The configuration version of each order, by its index `n`: the one that it names (`wanted`), else the newest that its
-- run may use. All but `n` and the last three columns are null if there is none.
-- index: configuration_versions_workspace, runs_queue, variables_key, varsets_name
-- takes: workspaces text[], wanted text[], applies boolean[]
-- gives: n bigint, id text null, status text null, speculative boolean, is_commit boolean, from_fork boolean,
-- fork_pool_id text null, content_id text null, is_connected boolean, has_queue boolean, has_variables boolean
select u.n - 1 as n, c.id, c.status, c.speculative, c.is_commit, c.from_fork, c.fork_pool_id, c.content_id,
    :any_row(workspace_repositories a where a.workspace_id = u.workspace) as is_connected,
    :any_row(runs r where r.workspace_id = u.workspace and r.queued and not r.plan_only) as has_queue,
    :any_row(variables v where v.workspace_id = u.workspace)
        or :any_row({
            workspaces w
            join varsets s on s.organization_id = w.organization_id
            where w.id = u.workspace
        }) as has_variables
from unnest(:workspaces::text[], :wanted::text[], :applies::boolean[])
    with ordinality as u(workspace, wanted, applies, n)
left join lateral (
    select v.id, v.status, v.speculative, k.id is not null as is_commit, k.content_id,
        coalesce(k.detail @> '{"from-fork": true}', false) as from_fork,
        case
            when k.detail @> '{"from-fork": true}' then (
                select s.fork_pool_id
                from vcs_contents x
                join vcs_repository_pools s on s.repository_id = x.repository_id
                where x.id = k.content_id
            )
        end as fork_pool_id
    from configuration_versions v
    left join configuration_commits k on k.configuration_version_id = v.id
    where v.workspace_id = u.workspace
        and case
            when u.wanted is not null then v.id = u.wanted
            when :any_row(workspace_repositories a where a.workspace_id = u.workspace)
                then v.id = (select current_configuration_id from workspaces where id = u.workspace)
            else not v.provisional
                and not (v.speculative and (u.applies or k.id is not null))
                and (v.status = 'uploaded' or k.content_id is not null)
        end
    order by v.created_at desc
    limit 1
) c on true;

-- statement: run_create_inputs
-- Inserts the fixed inputs of runs. `snapshots` and `variables` have the sealed variables of each row; an empty one of
-- `variables` is null.
-- takes: inputs jsonb, snapshots bytea[], variables bytea[]
insert into run_inputs
    (run_id, configuration_version_id, pool_id, message, source, is_destroy, refresh, refresh_only,
        allow_config_generation, json_log, target_addrs, replace_addrs, terraform_version, working_directory,
        created_by, trigger_reason, debugging_mode, policy_paths, invoke_action_addrs, test,
        snapshot_sealed, variables_sealed)
select run_id, configuration_version_id, pool_id, message, source, is_destroy, refresh, refresh_only,
    allow_config_generation, json_log, target_addrs, replace_addrs, terraform_version, working_directory,
    created_by, trigger_reason, debugging_mode, policy_paths, invoke_action_addrs, test,
    (:snapshots::bytea[])[u.ordinality], nullif((:variables::bytea[])[u.ordinality], '')
from jsonb_populate_recordset(null::run_inputs, :inputs::jsonb) with ordinality as u;

-- statement: run_create_stages
-- The run's optional stages.
-- index: runs_pkey
-- takes: run_id text, stages integer
update runs set stages = :stages where id = :run_id;
