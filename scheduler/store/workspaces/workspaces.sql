-- SPDX-License-Identifier: MPL-2.0

-- fragment: workspaces_workspace_columns(user)
-- `user` is the number of the requester's parameter (store/access/response_scope.h).
:rights_in_workspace(:user, w.organization_id, w.id) as rights, w.id, w.organization_id, w.pool_id,
    w.name, w.description, w.auto_apply, w.execution_mode, w.terraform_version, w.working_directory,
    w.structured_run_output, w.settings, w.locked_by, w.locked_reason, w.current_run_id, w.latest_run_id,
    w.current_state_id, w.current_configuration_id, w.project_id, w.ssh_key_id, w.resource_count,
    w.latest_change_at, w.run_count, w.run_failures, w.policy_failures, w.plan_milliseconds,
    w.apply_milliseconds, w.hold_job_id, w.has_queue, w.stands_still, w.destroy_check_at,
    w.destroy_reminded, w.created_at, w.updated_at, l.locked_at, o.name as organization_name,
    u.username as locker, r.id as retention_id,
    (select t.id from teams t where t.user_id = w.locked_by and t.kind in ('owners', 'team')) as locker_team,
    coalesce((o.settings ->> 'allow-force-delete-workspaces')::boolean, false) as admins_delete,
    r.delete_older_than_n_days is null as retains_all, d.destroy_after,
    w.latest_change_at + replace(replace(d.destroy_after, 'd', ' days'), 'h', ' hours')::interval as destroy_at,
    h.run_id as hold_run_id, h.worker as hold_worker, h.engine_ended as hold_engine_ended,
    to_char(h.until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS "UTC"') as hold_until,
    h.settled_at is not null as hold_settled, h.began_at as hold_since, h.until as hold_deadline,
    (select count(*) from state_versions k where k.workspace_id = w.id and k.status = 'detached') as kept_states,
    case when (w.locked_by is not null or w.hold_job_id is not null)
    and w.current_run_id is null then (
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
        )) as tag_names, :vcs_used_by_workspace(w.id) as repository;

-- fragment: workspace_joins()
join organizations o on o.id = w.organization_id
left join users u on u.id = w.locked_by
left join workspace_locks l on l.workspace_id = w.id and l.locked_by = w.locked_by
left join workspace_holds h on h.job_id = w.hold_job_id
left join data_retention_policies r on r.workspace_id = w.id
join projects j on j.id = w.project_id
cross join lateral (
    select case
        when coalesce((w.settings ->> 'inherits-project-auto-destroy')::boolean, true) then j.settings
        else w.settings end ->> 'auto-destroy-activity-duration' as destroy_after
) d;

-- fragment: workspaces_lookup()
select w.id, w.name, w.organization_id, o.name as organization_name, w.project_id, w.execution_mode,
    w.current_state_id
from workspaces w
join organizations o on o.id = w.organization_id;

-- statement: workspaces_read
-- takes: id text, user text
-- gives: rights bigint, id text, organization_id text, pool_id text null, name text, description text null,
-- auto_apply boolean, execution_mode text, terraform_version text, working_directory text,
-- structured_run_output boolean, settings jsonb, locked_by text null, locked_reason text null,
-- current_run_id text null, latest_run_id text null, current_state_id text null,
-- current_configuration_id text null, project_id text, ssh_key_id text null, resource_count bigint,
-- latest_change_at timestamptz, run_count bigint, run_failures integer, policy_failures integer,
-- plan_milliseconds bigint, apply_milliseconds bigint, hold_job_id text null, has_queue boolean,
-- stands_still boolean, destroy_check_at timestamptz null, destroy_reminded timestamptz null,
-- created_at timestamptz, updated_at timestamptz, locked_at timestamptz, organization_name text,
-- locker text null, retention_id text, locker_team text null, admins_delete boolean, retains_all boolean,
-- destroy_after text, destroy_at timestamptz, hold_run_id text null, hold_worker text,
-- hold_engine_ended boolean, hold_until text, hold_settled boolean, hold_since timestamptz,
-- hold_deadline timestamptz null, kept_states bigint, held_run_id text, variable_ids jsonb, tag_names jsonb,
-- repository jsonb null
select :workspaces_workspace_columns(:user) from workspaces w :workspace_joins() where w.id = :id;

-- statement: workspaces_read_named
-- takes: organization text, name text, user text
-- gives: rights bigint, id text, organization_id text, pool_id text null, name text, description text null,
-- auto_apply boolean, execution_mode text, terraform_version text, working_directory text,
-- structured_run_output boolean, settings jsonb, locked_by text null, locked_reason text null,
-- current_run_id text null, latest_run_id text null, current_state_id text null,
-- current_configuration_id text null, project_id text, ssh_key_id text null, resource_count bigint,
-- latest_change_at timestamptz, run_count bigint, run_failures integer, policy_failures integer,
-- plan_milliseconds bigint, apply_milliseconds bigint, hold_job_id text null, has_queue boolean,
-- stands_still boolean, destroy_check_at timestamptz null, destroy_reminded timestamptz null,
-- created_at timestamptz, updated_at timestamptz, locked_at timestamptz, organization_name text,
-- locker text null, retention_id text, locker_team text null, admins_delete boolean, retains_all boolean,
-- destroy_after text, destroy_at timestamptz, hold_run_id text null, hold_worker text,
-- hold_engine_ended boolean, hold_until text, hold_settled boolean, hold_since timestamptz,
-- hold_deadline timestamptz null, kept_states bigint, held_run_id text, variable_ids jsonb, tag_names jsonb,
-- repository jsonb null
select :workspaces_workspace_columns(:user)
from workspaces w :workspace_joins()
where w.id = (
    select n.id
    from organizations x
    join workspaces n on n.organization_id = x.id and lower(n.name) = lower(:name)
    where lower(x.name) = lower(:organization)
);

-- statement: workspaces_read_all
-- takes: ids text[], user text
-- gives: rights bigint, id text, organization_id text, pool_id text null, name text, description text null,
-- auto_apply boolean, execution_mode text, terraform_version text, working_directory text,
-- structured_run_output boolean, settings jsonb, locked_by text null, locked_reason text null,
-- current_run_id text null, latest_run_id text null, current_state_id text null,
-- current_configuration_id text null, project_id text, ssh_key_id text null, resource_count bigint,
-- latest_change_at timestamptz, run_count bigint, run_failures integer, policy_failures integer,
-- plan_milliseconds bigint, apply_milliseconds bigint, hold_job_id text null, has_queue boolean,
-- stands_still boolean, destroy_check_at timestamptz null, destroy_reminded timestamptz null,
-- created_at timestamptz, updated_at timestamptz, locked_at timestamptz, organization_name text,
-- locker text null, retention_id text, locker_team text null, admins_delete boolean, retains_all boolean,
-- destroy_after text, destroy_at timestamptz, hold_run_id text null, hold_worker text,
-- hold_engine_ended boolean, hold_until text, hold_settled boolean, hold_since timestamptz,
-- hold_deadline timestamptz null, kept_states bigint, held_run_id text, variable_ids jsonb, tag_names jsonb,
-- repository jsonb null
select :workspaces_workspace_columns(:user)
from workspaces w :workspace_joins()
where w.id = any(:ids::text[])
    and :scope_has(:user, :rights_in_workspace(:user, w.organization_id, w.id), 1)
order by lower(w.name), w.id;

-- statement: workspaces_lookup
-- takes: id text
-- gives: id text, name text, organization_id text, organization_name text, project_id text,
-- execution_mode text, current_state_id text null
:workspaces_lookup() where w.id = :id;

-- statement: workspace_lookup_named
-- takes: organization text, name text
-- gives: id text, name text, organization_id text, organization_name text, project_id text,
-- execution_mode text, current_state_id text null
:workspaces_lookup() where lower(o.name) = lower(:organization) and lower(w.name) = lower(:name);

-- statement: workspaces_newest
-- takes: organization_id text, limit bigint, offset bigint, user text
-- gives: total bigint, place bigint null, rights bigint, id text, organization_id text, pool_id text null,
-- name text, description text null, auto_apply boolean, execution_mode text, terraform_version text,
-- working_directory text, structured_run_output boolean, settings jsonb, locked_by text null,
-- locked_reason text null, current_run_id text null, latest_run_id text null, current_state_id text null,
-- current_configuration_id text null, project_id text, ssh_key_id text null, resource_count bigint,
-- latest_change_at timestamptz, run_count bigint, run_failures integer, policy_failures integer,
-- plan_milliseconds bigint, apply_milliseconds bigint, hold_job_id text null, has_queue boolean,
-- stands_still boolean, destroy_check_at timestamptz null, destroy_reminded timestamptz null,
-- created_at timestamptz, updated_at timestamptz, locked_at timestamptz, organization_name text,
-- locker text null, retention_id text, locker_team text null, admins_delete boolean, retains_all boolean,
-- destroy_after text, destroy_at timestamptz, hold_run_id text null, hold_worker text,
-- hold_engine_ended boolean, hold_until text, hold_settled boolean, hold_since timestamptz,
-- hold_deadline timestamptz null, kept_states bigint, held_run_id text, variable_ids jsonb, tag_names jsonb,
-- repository jsonb null
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
    select t.total, w.*
    from t
    left join (
        select p.place, :workspaces_workspace_columns(:user)
        from p
        join workspaces w on w.id = p.id :workspace_joins()
    ) w on true
    order by w.place
);

-- statement: limit_check_lock
-- takes: organization_id text
-- gives: max bigint
select (admin_settings ->> 'workspace-limit')::bigint as max
from organizations
where id = :organization_id and (admin_settings ->> 'workspace-limit')::bigint > 0
for no key update;

-- statement: limit_check_read
-- takes: organization_id text
-- gives: there bigint
select count(*) as there from workspaces where organization_id = :organization_id;

-- statement: workspace_create
-- takes: id text, organization_id text, fields_text jsonb, settings_text jsonb
insert into workspaces (
    id, organization_id, settings, name, description, auto_apply, execution_mode, terraform_version,
        working_directory, structured_run_output, pool_id, project_id)
select :id, :organization_id, :settings_text::jsonb || case
    when not :settings_text::jsonb ? 'global-remote-state'
    and (select (settings ->> 'default-remote-state-access')::boolean from site_settings) then
    '{"global-remote-state": true}'::jsonb else '{}' end, f ->> 'name', f ->> 'description',
    coalesce((f ->> 'auto-apply')::boolean, false), coalesce(f ->> 'execution-mode', 'remote'),
    coalesce(f ->> 'terraform-version', ''), coalesce(f ->> 'working-directory', ''),
    coalesce((f ->> 'structured-run-output-enabled')::boolean, true), f ->> 'agent-pool-id',
    coalesce(f ->> 'project-id',
            (select id from projects where organization_id = :organization_id and is_default))
from (select :fields_text::jsonb as f) x;

-- statement: workspace_update
-- takes: id text, fields_text jsonb, settings_text jsonb
update workspaces
set settings = settings || :settings_text::jsonb, name = coalesce(f ->> 'name', name), description = case
    when f ? 'description' then f ->> 'description' else description end,
    auto_apply = coalesce((f ->> 'auto-apply')::boolean, auto_apply),
    execution_mode = coalesce(f ->> 'execution-mode', execution_mode),
    terraform_version = coalesce(f ->> 'terraform-version', terraform_version),
    working_directory = coalesce(f ->> 'working-directory', working_directory),
    structured_run_output = coalesce(
        (f ->> 'structured-run-output-enabled')::boolean, structured_run_output), pool_id = case
    when f ? 'agent-pool-id' then f ->> 'agent-pool-id' else pool_id end,
    project_id = coalesce(f ->> 'project-id', project_id), updated_at = now()
from (select :fields_text::jsonb as f) x
where id = :id;

-- statement: workspaces_inherit_mode
-- takes: organization_id text
update workspaces w
set execution_mode = m.mode, pool_id = m.pool, updated_at = now()
from projects p
join organizations o on o.id = p.organization_id
cross join lateral (select :inherited_mode() as mode, :inherited_pool() as pool) m
where p.id = w.project_id and w.organization_id = :organization_id
    and w.settings -> 'setting-overwrites' -> 'execution-mode' = 'false'
    and (w.execution_mode, w.pool_id) is distinct from (m.mode, m.pool);

-- statement: jobs_lock
-- takes: id text
-- gives: applying boolean
select state = 'claimed' and stage = 'apply' as applying
from jobs
where run_id in (select id from runs where workspace_id = :id)
order by id
for update;

-- statement: workspaces_delete_lock
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

-- statement: workspaces_delete
-- takes: id text
delete from runs where workspace_id = :id;

-- statement: workspaces_delete_delete_2
-- takes: id text
delete from workspaces where id = :id;

-- statement: workspace_guarded
-- takes: id text
select 1
from workspaces w
join organizations o on o.id = w.organization_id
where w.id = :id and w.resource_count > 0
    and not coalesce((o.settings ->> 'allow-force-delete-workspaces')::boolean, false);

-- statement: workspaces_move
-- takes: organization_id text, project_id text, ids text[]
-- gives: found bigint
with moved as (
    update workspaces
    set project_id = :project_id, updated_at = now()
    where organization_id = :organization_id and id = any(:ids::text[])
    returning 1
)
select count(*) as found
from moved;

-- statement: workspace_lock
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

-- statement: workspaces_unlock_lock
-- takes: id text
-- gives: locked_by text null, run text, username text, team text null, state_pending boolean
select w.locked_by,
    coalesce(w.current_run_id, (select run_id from workspace_holds where job_id = w.hold_job_id)) as run,
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

-- statement: workspaces_unlock_update
-- takes: id text
with time as (delete from workspace_locks where workspace_id = :id)
update workspaces
set locked_by = null, locked_reason = null
where id = :id;
