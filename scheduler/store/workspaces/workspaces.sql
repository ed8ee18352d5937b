-- SPDX-License-Identifier: MPL-2.0

-- fragment: workspace_columns(user)
-- Columns of a workspace with workspace_joins. `rights` are those of the requester. All columns of the table
-- stand here by their names: PostgreSQL refuses a prepared `w.*` after a migration that adds a column.
:rights_in_workspace(:user, w.organization_id, w.id) as rights, w.id, w.organization_id, w.pool_id,
    w.name, w.description, w.auto_apply, w.execution_mode, w.terraform_version, w.working_directory,
    w.structured_run_output, w.settings, w.locked_by, w.locked_reason, w.current_run_id, w.latest_run_id,
    w.current_state_id, w.current_configuration_id, w.project_id, w.ssh_key_id, w.resource_count,
    w.latest_change_at, w.run_count, w.run_failures, w.policy_failures, w.plan_milliseconds,
    w.apply_milliseconds, w.hold_job_id, w.has_queue, w.stands_still, w.destroy_check_at,
    w.destroy_reminded, w.assessment_id, w.created_at, w.updated_at, l.locked_at, o.name as organization_name,
    u.username as locker, r.id as retention_id,
    (select t.id from teams t where t.user_id = w.locked_by and t.kind in ('owners', 'team')) as locker_team,
    coalesce((o.settings ->> 'allow-force-delete-workspaces')::boolean, false) as admins_delete,
    r.delete_older_than_n_days is null as retains_all, d.destroy_after,
    w.latest_change_at + replace(replace(d.destroy_after, 'd', ' days'), 'h', ' hours')::interval as destroy_at,
    h.run_id as hold_run_id, h.worker as hold_worker, h.engine_ended as hold_engine_ended,
    to_char(h.until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') as hold_until,
    h.settled_at is not null as hold_settled, h.began_at as hold_since, h.until as hold_deadline,
    (select count(*) from state_versions k where k.workspace_id = w.id and k.status = 'detached') as kept_states,
    case when (w.locked_by is not null or w.hold_job_id is not null) and w.current_run_id is null then (
            select r.id from runs r where r.workspace_id = w.id and r.queued order by r.position limit 1
        ) end as held_run_id,
    array_to_json(
        array(select v.id from variables v where v.workspace_id = w.id order by v.key, v.category)) as variable_ids,
    array_to_json(array(
            select t.name
            from tag_bindings b
            join tags t on t.id = b.tag_id
            where b.workspace_id = w.id and b.value = ''
            order by t.name
        )) as tag_names,
    :vcs_used_by_workspace(w.id) as repository, nc.module || '/' || nc.version as source_module,
    coalesce((
            select :no_code_version(q) <> nc.version
            from no_code_modules q
            where q.id = nc.no_code_module_id and q.enabled
        ), false) as can_upgrade, nc.no_code_module_id;

-- fragment: workspace_joins()
-- What a workspace `w` is read with. `d` has its effective auto-destroy activity duration.
join organizations o on o.id = w.organization_id
left join users u on u.id = w.locked_by
left join workspace_locks l on l.workspace_id = w.id and l.locked_by = w.locked_by
left join workspace_holds h on h.job_id = w.hold_job_id
left join data_retention_policies r on r.workspace_id = w.id
left join no_code_workspaces nc on nc.workspace_id = w.id
join projects j on j.id = w.project_id and w.module_id is null
cross join lateral (
    select case
        when coalesce((w.settings ->> 'inherits-project-auto-destroy')::boolean, true) then j.settings
        else w.settings end ->> 'auto-destroy-activity-duration' as destroy_after
) d;

-- fragment: workspace_lookup()
-- A quick read for checks. As all reads, it finds no test bed of a module.
select w.id, w.name, w.organization_id, o.name as organization_name, w.project_id, w.execution_mode,
    w.current_state_id
from workspaces w
join organizations o on o.id = w.organization_id and w.module_id is null;

-- shape: workspace_view
-- total bigint optional, place bigint null optional, rights bigint, id text, organization_id text,
-- pool_id text null, name text, description text null, auto_apply boolean, execution_mode text,
-- terraform_version text, working_directory text, structured_run_output boolean, settings jsonb,
-- locked_by text null, locked_reason text null, current_run_id text null, latest_run_id text null,
-- current_state_id text null, current_configuration_id text null, project_id text, ssh_key_id text null,
-- resource_count bigint, latest_change_at timestamptz, run_count bigint, run_failures integer,
-- policy_failures integer, plan_milliseconds bigint, apply_milliseconds bigint, hold_job_id text null,
-- has_queue boolean, stands_still boolean, destroy_check_at timestamptz null,
-- destroy_reminded timestamptz null, assessment_id text null, created_at timestamptz, updated_at timestamptz,
-- locked_at timestamptz null, organization_name text, locker text null, retention_id text null,
-- locker_team text null, admins_delete boolean, retains_all boolean, destroy_after text null,
-- destroy_at timestamptz null, hold_run_id text null, hold_worker text null, hold_engine_ended boolean,
-- hold_until text null, hold_settled boolean, hold_since timestamptz null, hold_deadline timestamptz null,
-- kept_states bigint, held_run_id text null, variable_ids jsonb, tag_names jsonb, repository jsonb null,
-- source_module text null, can_upgrade boolean, no_code_module_id text null

-- shape: workspace_lookup
-- id text, name text, organization_id text, organization_name text, project_id text, execution_mode text,
-- current_state_id text null

-- statement: workspace_read
-- The workspace of that id.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_workspace,
-- team_members_user, team_projects_project
-- takes: id text, user text
-- gives: workspace_view
select :workspace_columns(:user) from workspaces w :workspace_joins() where w.id = :id;

-- statement: workspace_read_named
-- The workspace of that name in the organization of that name, both in any case.
-- index: data_retention_policies_workspace_id_key, organizations_name, runs_queue, state_versions_detached,
-- tag_bindings_workspace, team_members_user
-- takes: organization text, name text, user text
-- gives: workspace_view
select :workspace_columns(:user)
from workspaces w :workspace_joins()
where w.id = (
    select n.id
    from organizations x
    join workspaces n on n.organization_id = x.id and lower(n.name) = lower(:name)
    where lower(x.name) = lower(:organization)
);

-- statement: workspaces_read_all
-- Those of the workspaces that the requester sees, by name.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_workspace,
-- team_members_user, team_projects_project
-- takes: ids text[], user text
-- gives: workspace_view
select :workspace_columns(:user)
from workspaces w :workspace_joins()
where w.id = any(:ids::text[])
    and :scope_has(:user, :rights_in_workspace(:user, w.organization_id, w.id), 1)
order by lower(w.name), w.id;

-- statement: workspace_lookup
-- The workspace of that id.
-- index: organizations_pkey, workspaces_pkey
-- takes: id text
-- gives: workspace_lookup
:workspace_lookup() where w.id = :id;

-- statement: workspace_lookup_named
-- The same by the names of the organization and the workspace, in any case.
-- index: organizations_name, workspaces_name
-- takes: organization text, name text
-- gives: workspace_lookup
:workspace_lookup() where lower(o.name) = lower(:organization) and lower(w.name) = lower(:name);

-- fragment: workspaces_shown(user)
-- The page `p` of workspaces, each with its place, and the total count (`t`).
select t.total, w.*
from t
left join (
    select p.place, :workspace_columns(:user)
    from p
    join workspaces w on w.id = p.id :workspace_joins()
) w on true
order by w.place;

-- statement: workspaces_newest
-- One page of the workspaces whose current run is the newest. It looks at the newest runs only, so it may find
-- fewer than there are.
-- index: data_retention_policies_workspace_id_key, runs_organization, runs_queue, state_versions_detached,
-- tag_bindings_workspace, team_members_user
-- takes: organization_id text, limit bigint, offset bigint, user text
-- gives: workspace_view
(
    with t as (
        select coalesce(
            (select workspaces from organization_totals where organization_id = :organization_id), 0) as total
    ),
    p as (
        select id, row_number() over () as place
        from (
            select f.id
            from (
                select id, workspace_id, position, status
                from runs
                where organization_id = :organization_id
                order by position desc
                limit 10000 + 10 * (:limit::bigint + :offset::bigint)
            ) r
            cross join lateral (
                select id
                from workspaces
                where id = r.workspace_id and coalesce(current_run_id, latest_run_id) = r.id
                offset 0
            ) f
            where r.status <> 'pending'
            order by r.position desc
            limit :limit
            offset :offset
        ) cut
    )
    :workspaces_shown(:user)
);

-- fragment: wildcard(text)
-- Converts a pattern with asterisks to one of `like`, and escapes the special characters of `like`.
replace(replace(replace(replace(lower(:text), '\', '\\'), '%', '\%'), '_', '\_'), '*', '%');

-- fragment: workspaces_named()
-- Conditions of a list, on workspaces `f`: on the name, and all others (workspaces_listed).
(:name::text is null or strpos(lower(f.name), lower(:name)) > 0)
    and (:wildcard::text is null or lower(f.name) like :wildcard(:wildcard));

-- fragment: tags_of_tag()
-- An index lookup for each row of the tables before it, as in workspaces_found. `offset 0` makes PostgreSQL
-- plan them separately: a list by tag takes 22 ms instead of 1,200, one by name 48 instead of 260 (10,000
-- workspaces, also with fresh statistics).
lateral (select workspace_id, value from effective_tags where tag_id = t.id offset 0) e;

-- fragment: workspaces_found()
-- The workspace `f` of a candidate `d`.
lateral (select * from workspaces where id = d.id offset 0) f;

-- fragment: workspaces_with_any(names)
-- Workspaces that have one of the tags.
e.workspace_id
from tags t
cross join :tags_of_tag()
where t.organization_id = :organization_id and lower(t.name) = any(string_to_array(lower(:names), ','));

-- fragment: workspaces_healthy()
-- The condition that the current assessment of workspaces `f` has one of the outcomes. Drift and failed checks may come
-- together.
exists (
        select 1
        from assessment_results r
        where r.id = f.assessment_id
            and string_to_array(:health, ',') && array[
                case when not r.succeeded then 'failed' end, case when r.succeeded and r.drifted then 'drifted' end,
                case when r.succeeded and r.checks_failed + r.checks_errored > 0 then 'checks-failed' end,
                case
                    when r.succeeded and not r.drifted and r.checks_failed + r.checks_errored = 0 then 'healthy'
                end
            ]
    );

-- fragment: workspaces_listed()
-- The conditions of a list on workspaces `f`.
f.organization_id = :organization_id and f.module_id is null and :workspaces_named()
    and (:run_status::text is null
            or exists (
                select 1
                from runs r
                where r.id = coalesce(f.current_run_id, f.latest_run_id)
                    and r.status = any(string_to_array(:run_status, ','))
            ))
    and (:health::text is null or :workspaces_healthy())
    and (:project_ids::text is null or f.project_id = any(string_to_array(:project_ids, ',')))
    and (:without_tags::text is null or f.id not in (select :workspaces_with_any(:without_tags)))
    and :workspace_in_scope(:everywhere, :user, f.id);

-- fragment: workspaces_live()
-- Workspaces whose current run has one of the statuses. `live` is true if only runs that have not ended have
-- these statuses.
select f.id
from runs r
cross join lateral (
    select id from workspaces where id = r.workspace_id and coalesce(current_run_id, latest_run_id) = r.id offset 0
) f
where r.organization_id = :organization_id and not r.ended and r.status = any(string_to_array(:run_status, ','));

-- fragment: workspaces_among()
-- The candidate workspaces for the other conditions: the smallest set that an index finds. Only one part of the
-- union is active; conditions on the absent filters disable the others.
select f.id
from workspaces f
where f.organization_id = :organization_id and :tag_keys::text[] is null and :project_ids::text is null
    and :everywhere::boolean and not :live::boolean and :workspaces_named()
union all
:workspaces_live() and :tag_keys is null and :project_ids is null and :everywhere and :live
union all
select id
from workspaces
where project_id = any(string_to_array(:project_ids, ',')) and :tag_keys is null and :everywhere::boolean
union all
(:owners_with_tags(:tags_of_tag(), workspace_id))
union all
select distinct s.workspace_id
from (:workspaces_with(:user, 1)) s
where :tag_keys is null and not :everywhere::boolean;

-- fragment: workspaces_run()
-- The current run `c` of workspaces `f`.
left join runs c on c.id = coalesce(f.current_run_id, f.latest_run_id);

-- fragment: workspaces_placed(from, order, sign, page)
-- The page's rows from one end, with their places. They are selected before any join, if possible in the order
-- of an index, so a skipped row costs only one step in that index.
(
    select id, :sign row_number() over () as place
    from (select f.id from :from order by :order :page) cut
);

-- fragment: workspaces_all(join, order, back)
-- All workspaces of an organization, or all but those with one of the tags: the most frequent list. Their
-- number is in organization_totals, and the page is read from the nearer end: 5,000 skipped rows take 1 ms, so
-- the last page of 100,000 workspaces takes 20 ms less. The other end's part has a limit of 0 rows. `back` is
-- the order backwards.
(
    with x as materialized (select distinct :workspaces_with_any(:without_tags)),
    t as (
        select total, :offset::bigint * 2 <= total as ahead, greatest(total - :offset, 0) as rest
        from (
            select coalesce(
                (select workspaces from organization_totals where organization_id = :organization_id), 0) -
                (select count(*) from x) as total
        ) n
    ),
    p as (
        :workspaces_placed({workspaces f :join
                where f.organization_id = :organization_id and f.module_id is null
                    and f.id not in (select workspace_id from x)}, {:order}, {},
            {limit (select case when ahead then :limit else 0 end from t) offset :offset})
        union all
        :workspaces_placed({workspaces f :join
                where f.organization_id = :organization_id and f.module_id is null
                    and f.id not in (select workspace_id from x)}, {:back}, -,
            {limit (select case when ahead then 0 else least(:limit, rest) end from t)
                offset (select greatest(rest - :limit::bigint, 0) from t)})
    )
    :workspaces_shown(:user)
);

-- fragment: workspaces_some(join, order)
-- Workspaces that match conditions; these are counted.
(
    with f as materialized (
        select f.id, f.name, f.created_at, f.latest_change_at, f.current_run_id, f.latest_run_id
        from (:workspaces_among()) d
        cross join :workspaces_found()
        where :workspaces_listed()
    ),
    t as (select count(*) as total from f),
    p as :workspaces_placed({f :join}, {:order}, {}, {limit :limit offset :offset})
    :workspaces_shown(:user)
);

-- statement: workspaces_all_by_creation
-- One page of all workspaces of the organization, the oldest first.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_tag,
-- tag_bindings_workspace, tags_search
-- takes: organization_id text, limit integer, offset bigint, user text, without_tags text
-- gives: workspace_view
:workspaces_all({}, {f.created_at, f.id}, {f.created_at desc, f.id desc});

-- statement: workspaces_all_by_name
-- One page of all workspaces of the organization, by name.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_tag,
-- tag_bindings_workspace, tags_search
-- takes: like workspaces_all_by_creation
-- gives: workspace_view
:workspaces_all({}, {lower(f.name)}, {lower(f.name) desc});

-- statement: workspaces_all_by_name_down
-- One page of all workspaces of the organization, by name backwards.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_tag,
-- tag_bindings_workspace, tags_search
-- takes: like workspaces_all_by_creation
-- gives: workspace_view
:workspaces_all({}, {lower(f.name) desc}, {lower(f.name)});

-- statement: workspaces_all_by_run
-- One page of all workspaces of the organization, the oldest current run first.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_tag,
-- tag_bindings_workspace, tags_search
-- takes: like workspaces_all_by_creation
-- gives: workspace_view
:workspaces_all({:workspaces_run()}, {c.position nulls last, f.created_at, f.id},
    {c.position desc nulls first, f.created_at desc, f.id desc});

-- statement: workspaces_all_by_run_down
-- One page of all workspaces of the organization, the newest current run first.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_tag,
-- tag_bindings_workspace, tags_search
-- takes: like workspaces_all_by_creation
-- gives: workspace_view
:workspaces_all({:workspaces_run()}, {c.position desc nulls last, f.created_at, f.id},
    {c.position nulls first, f.created_at desc, f.id desc});

-- statement: workspaces_all_by_change
-- One page of all workspaces of the organization, the longest unchanged first.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_tag,
-- tag_bindings_workspace, tags_search
-- takes: like workspaces_all_by_creation
-- gives: workspace_view
:workspaces_all({}, {f.latest_change_at, f.id}, {f.latest_change_at desc, f.id desc});

-- statement: workspaces_all_by_change_down
-- One page of all workspaces of the organization, the last changed first.
-- index: data_retention_policies_workspace_id_key, runs_queue, state_versions_detached, tag_bindings_tag,
-- tag_bindings_workspace, tags_search
-- takes: like workspaces_all_by_creation
-- gives: workspace_view
:workspaces_all({}, {f.latest_change_at desc, f.id desc}, {f.latest_change_at, f.id});

-- statement: workspaces_some_by_creation
-- One page of the workspaces that match, the oldest first.
-- index: data_retention_policies_workspace_id_key, runs_live, runs_queue, state_versions_detached,
-- tag_bindings_tag, tag_bindings_workspace
-- takes: organization_id text, name text, wildcard text, run_status text, health text, project_ids text,
-- tag_keys text[], tag_values text[], without_tags text, limit bigint, offset bigint, everywhere boolean, user text,
-- live boolean
-- gives: workspace_view
:workspaces_some({}, {f.created_at, f.id});

-- statement: workspaces_some_by_name
-- One page of the workspaces that match, by name.
-- index: data_retention_policies_workspace_id_key, runs_live, runs_queue, state_versions_detached,
-- tag_bindings_tag, tag_bindings_workspace
-- takes: like workspaces_some_by_creation
-- gives: workspace_view
:workspaces_some({}, {lower(f.name)});

-- statement: workspaces_some_by_name_down
-- One page of the workspaces that match, by name backwards.
-- index: data_retention_policies_workspace_id_key, runs_live, runs_queue, state_versions_detached,
-- tag_bindings_tag, tag_bindings_workspace
-- takes: like workspaces_some_by_creation
-- gives: workspace_view
:workspaces_some({}, {lower(f.name) desc});

-- statement: workspaces_some_by_run
-- One page of the workspaces that match, the oldest current run first.
-- index: data_retention_policies_workspace_id_key, runs_live, runs_queue, state_versions_detached,
-- tag_bindings_tag, tag_bindings_workspace
-- takes: like workspaces_some_by_creation
-- gives: workspace_view
:workspaces_some({:workspaces_run()}, {c.position nulls last, f.created_at, f.id});

-- statement: workspaces_some_by_run_down
-- One page of the workspaces that match, the newest current run first.
-- index: data_retention_policies_workspace_id_key, runs_live, runs_queue, state_versions_detached,
-- tag_bindings_tag, tag_bindings_workspace
-- takes: like workspaces_some_by_creation
-- gives: workspace_view
:workspaces_some({:workspaces_run()}, {c.position desc nulls last, f.created_at, f.id});

-- statement: workspaces_some_by_change
-- One page of the workspaces that match, the longest unchanged first.
-- index: data_retention_policies_workspace_id_key, runs_live, runs_queue, state_versions_detached,
-- tag_bindings_tag, tag_bindings_workspace
-- takes: like workspaces_some_by_creation
-- gives: workspace_view
:workspaces_some({}, {f.latest_change_at, f.id});

-- statement: workspaces_some_by_change_down
-- One page of the workspaces that match, the last changed first.
-- index: data_retention_policies_workspace_id_key, runs_live, runs_queue, state_versions_detached,
-- tag_bindings_tag, tag_bindings_workspace
-- takes: like workspaces_some_by_creation
-- gives: workspace_view
:workspaces_some({}, {f.latest_change_at desc, f.id desc});

-- fragment: workspace_ceiling()
-- The most workspaces of an organization: its own limit, or the site's.
coalesce(
    (admin_settings ->> 'workspace-limit')::bigint,
    (
        select (x.settings ->> 'default-workspaces-per-organization-ceiling')::bigint
        from site_settings x
        where (x.settings ->> 'limit-workspaces-per-organization')::boolean
    )
);

-- statement: workspace_limit_lock
-- The organization's limit of workspaces, if it has one. Locks the organization until the workspace is
-- inserted, so that concurrent creations respect the limit.
-- index: organizations_pkey
-- reads: site_settings
-- takes: organization_id text
-- gives: max bigint
select :workspace_ceiling() as max
from organizations
where id = :organization_id and :workspace_ceiling() > 0
for no key update;

-- statement: workspaces_count
-- The number of the organization's workspaces.
-- index: workspaces_name
-- takes: organization_id text
-- gives: there bigint
select count(*) as there from workspaces where organization_id = :organization_id and module_id is null;

-- statement: workspace_create
-- Creates a workspace in the project, or in the default one. The site's settings say whether all share its
-- state.
-- index: projects_default
-- reads: site_settings
-- takes: id text, organization_id text, fields jsonb, settings jsonb
insert into workspaces (
    id, organization_id, settings, name, description, auto_apply, execution_mode, terraform_version,
        working_directory, structured_run_output, pool_id, project_id)
select :id, :organization_id,
    :settings::jsonb || case when not :settings::jsonb ? 'global-remote-state'
            and (select (settings ->> 'default-remote-state-access')::boolean from site_settings)
        then '{"global-remote-state": true}'::jsonb else '{}' end, f ->> 'name', f ->> 'description',
    coalesce((f ->> 'auto-apply')::boolean, false), coalesce(f ->> 'execution-mode', 'remote'),
    coalesce(f ->> 'terraform-version', ''), coalesce(f ->> 'working-directory', ''),
    coalesce((f ->> 'structured-run-output-enabled')::boolean, true), f ->> 'agent-pool-id',
    coalesce(f ->> 'project-id',
            (select id from projects where organization_id = :organization_id and is_default))
from (select :fields::jsonb as f) x;

-- statement: workspace_update
-- Changes the fields and settings that are given.
-- index: workspaces_pkey
-- takes: id text, fields jsonb, settings jsonb
update workspaces
set settings = settings || :settings::jsonb, name = coalesce(f ->> 'name', name),
    description = case when f ? 'description' then f ->> 'description' else description end,
    auto_apply = coalesce((f ->> 'auto-apply')::boolean, auto_apply),
    execution_mode = coalesce(f ->> 'execution-mode', execution_mode),
    terraform_version = coalesce(f ->> 'terraform-version', terraform_version),
    working_directory = coalesce(f ->> 'working-directory', working_directory),
    structured_run_output = coalesce((f ->> 'structured-run-output-enabled')::boolean, structured_run_output),
    pool_id = case when f ? 'agent-pool-id' then f ->> 'agent-pool-id' else pool_id end,
    project_id = coalesce(f ->> 'project-id', project_id), updated_at = now()
from (select :fields::jsonb as f) x
where id = :id;

-- statement: workspaces_inherit_mode
-- Applies the execution mode of the project, or else of the organization, to the organization's workspaces that
-- inherit it.
-- index: workspaces_name
-- takes: organization_id text
update workspaces w
set execution_mode = m.mode, pool_id = m.pool, updated_at = now()
from projects p
join organizations o on o.id = p.organization_id
cross join lateral (select :inherited_mode() as mode, :inherited_pool() as pool) m
where p.id = w.project_id and w.organization_id = :organization_id
    and w.settings -> 'setting-overwrites' -> 'execution-mode' = 'false'
    and (w.execution_mode, w.pool_id) is distinct from (m.mode, m.pool);

-- statement: workspace_jobs_lock
-- Locks the jobs, so that no worker claims one between the check and the deletion.
-- index: jobs_run_id_key, runs_workspace
-- takes: id text
-- gives: applying boolean
select state = 'claimed' and stage = 'apply' as applying
from jobs
where run_id in (select id from runs where workspace_id = :id)
order by id
for update;

-- statement: workspace_use_lock
-- The workspace, locked: what speaks against its deletion.
-- index: state_versions_workspace
-- takes: id text
-- gives: locked boolean, held boolean, manages boolean, processing boolean
select (w.locked_by is not null or w.current_run_id is not null) as locked,
    w.hold_job_id is not null as held, w.resource_count > 0 as manages,
    exists (
        select 1
        from state_versions s
        where s.workspace_id = w.id and s.status = 'pending'
            and s.created_at > now() - interval '10 minutes'
    ) as processing
from workspaces w
where w.id = :id
for update;

-- statement: workspace_runs_delete
-- Deletes its runs, which refer to configuration versions.
-- index: runs_workspace
-- takes: id text
delete from runs where workspace_id = :id;

-- statement: workspace_delete
-- Deletes the workspace with everything in it.
-- index: workspaces_pkey
-- takes: id text
delete from workspaces where id = :id;

-- statement: workspace_guarded
-- A row if only owners may force its deletion.
-- index: organizations_pkey, workspaces_pkey
-- takes: id text
select 1
from workspaces w
join organizations o on o.id = w.organization_id
where w.id = :id and w.resource_count > 0
    and not coalesce((o.settings ->> 'allow-force-delete-workspaces')::boolean, false);

-- statement: workspaces_move
-- Moves those of the workspaces that are in the organization to the project, and counts them.
-- index: workspaces_name
-- takes: organization_id text, project_id text, ids text[]
-- gives: found bigint
with moved as (
    update workspaces
    set project_id = :project_id, updated_at = now()
    where organization_id = :organization_id and id = any(:ids::text[]) and module_id is null
    returning 1
)
select count(*) as found
from moved;

-- statement: workspace_lock
-- Locks the workspace for the user, unless it is locked, has a current run, or is held.
-- index: workspaces_pkey
-- takes: id text, user_id text, reason text
with locked as (
    update workspaces
    set locked_by = :user_id, locked_reason = :reason
    where id = :id and locked_by is null and current_run_id is null and hold_job_id is null
    returning id
)
insert into workspace_locks (workspace_id, locked_by, locked_at)
select id, :user_id, now()
from locked
on conflict (workspace_id) do update set locked_by = excluded.locked_by, locked_at = excluded.locked_at;

-- statement: workspace_locker_lock
-- Who holds the lock of the workspace, which is locked: a user, with the team if it is a team's, or a run.
-- index: state_versions_workspace, teams_user_id_key
-- takes: id text
-- gives: locked_by text null, run_id text null, username text null, team text null, state_pending boolean
select w.locked_by,
    coalesce(w.current_run_id, (select run_id from workspace_holds where job_id = w.hold_job_id)) as run_id,
    (select username from users where id = w.locked_by),
    (select name from teams where user_id = w.locked_by and kind in ('owners', 'team')) as team,
    coalesce((
            select s.status = 'pending' and s.created_by = w.locked_by
            from state_versions s
            where s.workspace_id = w.id
            order by s.created_at desc, s.id
            limit 1
        ), false) as state_pending
from workspaces w
where w.id = :id
for update;

-- statement: workspace_unlock
-- Ends the user's lock.
-- index: workspace_locks_pkey, workspaces_pkey
-- takes: id text
with time as (delete from workspace_locks where workspace_id = :id)
update workspaces
set locked_by = null, locked_reason = null
where id = :id;
