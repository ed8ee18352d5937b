-- SPDX-License-Identifier: MPL-2.0

-- statement: run_create_configuration
-- takes: workspaces text[], wanted text[], applies boolean[]
-- gives: n bigint, id text, status text, speculative boolean, is_commit boolean, from_fork boolean,
-- fork_pool_id text, content_id text null, is_connected boolean, has_queue boolean, has_variables boolean
select u.n - 1 as n, c.id, c.status, c.speculative, c.is_commit, c.from_fork, c.fork_pool_id,
    c.content_id,
    coalesce((select true from workspace_repositories a where a.workspace_id = u.workspace limit 1), false)
        as is_connected,
    coalesce((
            select true
            from runs r
            where r.workspace_id = u.workspace and r.queued and not r.plan_only
            limit 1
        ), false) as has_queue,
    coalesce((select true from variables v where v.workspace_id = u.workspace limit 1), false)
    or coalesce((
            select true
            from workspaces w
            join varsets s on s.organization_id = w.organization_id
            where w.id = u.workspace
            limit 1
        ), false) as has_variables
from unnest(:workspaces::text[], :wanted::text[], :applies::boolean[])
with ordinality as u(workspace, wanted, applies, n)
left join lateral (
    select v.id, v.status, v.speculative, k.id is not null as is_commit, k.content_id,
        coalesce(k.detail @> '{"from-fork": true}', false) as from_fork, case
        when k.detail @> '{"from-fork": true}' then (
            select s.fork_pool_id
            from vcs_contents x
            join vcs_repository_pools s on s.repository_id = x.repository_id
            where x.id = k.content_id
        ) end as fork_pool_id
    from configuration_versions v
    left join configuration_commits k on k.configuration_version_id = v.id
    where v.workspace_id = u.workspace and case when u.wanted is not null then v.id = u.wanted
        when coalesce(
            (select true from workspace_repositories a where a.workspace_id = u.workspace limit 1), false)
        then v.id = (select current_configuration_id from workspaces where id = u.workspace)
        else not v.provisional and not (v.speculative and (u.applies or k.id is not null))
        and (v.status = 'uploaded' or k.content_id is not null) end
    order by v.created_at desc
    limit 1
) c on true;

-- statement: run_create_inputs
-- $2 and $3 have the sealed variables of each row; an empty one is null.
-- takes: p1 jsonb, snapshots bytea[], variables bytea[]
insert into run_inputs (
    run_id, configuration_version_id, pool_id, message, source, is_destroy, refresh, refresh_only,
        allow_config_generation, json_log, target_addrs, replace_addrs, terraform_version,
        working_directory, created_by, trigger_reason, debugging_mode, policy_paths, invoke_action_addrs,
        snapshot_sealed, variables_sealed)
select run_id, configuration_version_id, pool_id, message, source, is_destroy, refresh, refresh_only,
    allow_config_generation, json_log, target_addrs, replace_addrs, terraform_version, working_directory,
    created_by, trigger_reason, debugging_mode, policy_paths, invoke_action_addrs,
    (:snapshots::bytea[])[u.ordinality], nullif((:variables::bytea[])[u.ordinality], '')
from jsonb_populate_recordset(null::run_inputs, :p1::jsonb)
with ordinality as u;

-- statement: stages_take
-- takes: run text, stages integer
update runs set stages = :stages where id = :run;
