-- SPDX-License-Identifier: MPL-2.0

-- fragment: plan_has_blob(kind)
-- Whether the run's plan p has a blob of that kind.
(select blob_id from operation_blobs where operation_id = p.id and kind = :kind) is not null;

-- statement: job_document
-- Returns one row per job, in any order: the members of its document (proto/README.md), and what job_document.c
-- and claim.c need in addition. Every table is read by its primary key, and the provider sets of the organization
-- only for a no-code workspace. `reads_json`: the stages that read the
-- plan's JSON (job_document.c).
-- reads: site_settings
-- takes: jobs text[], reads_json integer
-- gives: job text, attempt integer, stage text, run text, log text, organization text, organization_id text,
-- project text, workspace jsonb, working_directory text, configuration_version text, commit jsonb, engine text,
-- terraform_version text, destroy boolean, refresh boolean, refresh_only boolean, generate_config boolean,
-- query boolean, test jsonb, module text null, provider_sets jsonb null,
-- debug boolean, json_log boolean, target_addrs jsonb, replace_addrs jsonb, invoke_addrs jsonb,
-- has_state boolean, has_init boolean, has_plan_json boolean, watched boolean, json_later boolean,
-- time_limit bigint, stop smallint, pool text, waited numeric, waited_free numeric null,
-- project_id text, from_fork boolean, plan_only boolean, assessment boolean, snapshot_sealed bytea null,
-- variables_sealed bytea null,
-- ssh_key_id text null, ssh_key_sealed bytea null
select j.id as job, j.attempt, j.stage, r.id as run,
    case j.stage when 'apply' then 'apply' else 'plan' end || substr(r.id, 4) as log,
    g.name as organization, g.id as organization_id, x.name as project,
    jsonb_build_object('id', w.id, 'name', coalesce(m.name || '-' || m.provider, w.name)) as workspace,
    i.working_directory, i.configuration_version_id as configuration_version,
    coalesce((
        select jsonb_build_object('sha', k.sha, 'branch', k.branch, 'tag', k.tag)
        from configuration_commits k
        where k.configuration_version_id = i.configuration_version_id
    ), 'null') as commit,
    p.engine,
    -- An apply uses the engine and the version that made its plan.
    case
        when j.stage = 'apply' or p.engine <> '' then coalesce(p.terraform_version, '')
        else i.terraform_version
    end as terraform_version,
    i.is_destroy as destroy, i.refresh, i.refresh_only, i.allow_config_generation as generate_config, r.query,
    coalesce(i.test, 'null') as test, m.name as module,
    case
        when j.stage in ('plan', 'apply') and exists (select 1 from no_code_workspaces n where n.workspace_id = w.id)
            then :provider_sets_of_run(w)
    end as provider_sets,
    i.debugging_mode as debug, i.json_log,
    coalesce(i.target_addrs, '[]') as target_addrs,
    coalesce(i.replace_addrs, '[]') as replace_addrs,
    coalesce(i.invoke_action_addrs, '[]') as invoke_addrs,
    w.current_state_id is not null as has_state,
    :plan_has_blob('init') as has_init,
    :plan_has_blob('json') as has_plan_json,
    r.auto_apply and i.source = 'terraform+cloud' as watched,
    r.auto_apply and i.source <> 'terraform+cloud' and not r.plan_only and not r.save_plan
        and r.stages & :reads_json = 0 as json_later,
    coalesce(
        nullif((g.admin_settings ->> t.name)::bigint, 0),
        (select (settings ->> t.name)::bigint from site_settings),
        0
    ) as time_limit,
    j.stop,
    :pool_label(ao, ap) as pool,
    extract(epoch from now() - j.created_at) as waited,
    (
        select extract(epoch from now() - greatest(j.created_at, c.free_since))
        from pool_capacity c
        where c.pool_id = j.pool_id and c.free_since is not null
    ) as waited_free,
    x.id as project_id,
    f.from_fork, r.plan_only, r.assessment,
    i.snapshot_sealed, i.variables_sealed, s.id as ssh_key_id, s.value_sealed as ssh_key_sealed
from jobs j
cross join lateral (select case when j.stage = 'apply' then 'apply-seconds' else 'plan-seconds' end as name) t
join runs r on r.id = j.run_id
join run_inputs i on i.run_id = r.id
join workspaces w on w.id = j.workspace_id
join organizations g on g.id = w.organization_id
join projects x on x.id = w.project_id
left join registry_modules m on m.id = w.module_id
cross join lateral (
    select exists (
        select 1
        from configuration_commits k
        where k.configuration_version_id = i.configuration_version_id and k.detail @> '{"from-fork": true}'
    ) as from_fork
) f
-- The code of a fork gets no key.
left join ssh_keys s on s.id = w.ssh_key_id and j.stage in ('plan', 'apply') and not f.from_fork
join operations p on p.id = 'plan' || substr(r.id, 4)
join agent_pools ap on ap.id = j.pool_id
left join organizations ao on ao.id = ap.organization_id
where j.id = any(:jobs::text[]);
