-- SPDX-License-Identifier: MPL-2.0

-- fragment: projects_columns(user)
-- Columns of a project with projects_tables. `rights` are those of the requester, `mode` is the effective
-- execution mode.
:rights_in_project(:user, p.organization_id, p.id) as rights, p.*, o.name as organization_name,
    :inherited_mode() as mode,
    coalesce((select workspaces from project_totals where project_id = p.id), 0) as workspace_count;

-- fragment: projects_tables()
-- Projects with their organizations.
from projects p join organizations o on o.id = p.organization_id;

-- fragment: inherited_mode()
-- The execution mode of workspaces without one of their own, from a project `p` of an organization `o`.
coalesce(p.settings ->> 'default-execution-mode', o.settings ->> 'default-execution-mode', 'remote');

-- fragment: inherited_pool()
-- The pool of that mode.
case when p.settings ->> 'default-execution-mode' is null then o.default_pool_id else p.default_pool_id end;

-- shape: project
-- total bigint optional, rights bigint, id text, organization_id text, name text, description text,
-- is_default boolean, settings jsonb, default_pool_id text null, created_at timestamptz,
-- updated_at timestamptz, organization_name text, mode text, workspace_count bigint

-- statement: projects_list
-- One page of the organization's projects that the requester sees, by name, the default one last. A project
-- must have each of the tags; a value of '' is any value.
-- index: projects_name, tag_bindings_tag, tags_search, team_members_user, team_projects_project, team_projects_team,
-- team_workspaces_team
-- takes: organization_id text, search text, names text, sort text, limit bigint, offset bigint, tag_keys text[] null,
-- tag_values text[] null, everywhere boolean, user text
-- gives: project
with found as (
    select f.id
    from projects f
    where f.organization_id = :organization_id
        and (:search::text is null or strpos(lower(f.name), lower(:search)) > 0)
        and (:names::text is null or lower(f.name) = any(string_to_array(lower(:names), ',')))
        and (:tag_keys::text[] is null or f.id in (:owners_with_tags(:bindings_of_tag(), project_id)))
        and :project_in_scope(:everywhere, :user, f.id)
)
select c.total, p.*
from (select count(*) as total from found) c
left join (
    select :projects_columns(:user) :projects_tables()
    where p.id in (select id from found)
    order by case when :sort::text = '-name' then lower(p.name) end desc, p.is_default and :sort is null,
        lower(p.name)
    limit :limit
    offset :offset
) p on true
order by case when :sort = '-name' then lower(p.name) end desc, p.is_default and :sort is null, lower(p.name);

-- statement: project_read
-- The project of that id.
-- index: team_members_user, team_projects_project, team_workspaces_workspace, teams_organization,
-- workspaces_project
-- takes: id text, user text
-- gives: project
select :projects_columns(:user) :projects_tables() where p.id = :id;

-- statement: projects_read_all
-- Those of the projects that the requester sees, by name.
-- index: team_members_user, team_projects_project, team_workspaces_workspace, teams_organization,
-- workspaces_project
-- takes: ids text[], user text
-- gives: project
select :projects_columns(:user) :projects_tables()
where p.id = any(:ids::text[])
    and :scope_has(:user, :rights_in_project(:user, p.organization_id, p.id), 1048576)
order by lower(p.name), p.id;

-- statement: project_belongs
-- A row if the organization has the project.
-- index: projects_name
-- takes: id text, organization_id text
select 1 from projects where id = :id and organization_id = :organization_id;

-- statement: project_default
-- The organization's default project.
-- index: projects_default
-- takes: organization_id text
-- gives: id text
select id from projects where organization_id = :organization_id and is_default;

-- statement: project_inherited_mode
-- The execution mode that workspaces of the project inherit, and its pool; null is the default project.
-- index: projects_name
-- takes: organization_id text, id text
-- gives: mode text, pool text null
select :inherited_mode() as mode, :inherited_pool() as pool
from organizations o
join projects p on p.organization_id = o.id
where o.id = :organization_id and case when :id::text is null then p.is_default else p.id = :id end;

-- statement: project_create
-- Creates a project.
-- takes: id text, organization_id text, name text, description text, settings jsonb, pool_id text
insert into projects (id, organization_id, name, description, settings, default_pool_id)
values (:id, :organization_id, :name, :description, jsonb_strip_nulls(:settings::jsonb), :pool_id);

-- statement: project_update
-- Changes a project, and the settings that are given. A setting of null is deleted.
-- index: projects_pkey
-- takes: id text, name text, description text, settings jsonb, pool_id text
update projects
set name = :name, description = :description, default_pool_id = :pool_id,
    settings = jsonb_strip_nulls(settings || :settings::jsonb), updated_at = now()
where id = :id;

-- statement: project_delete
-- Deletes a project without workspaces. The foreign key of a workspace that is added concurrently prevents the
-- deletion.
-- index: workspaces_project
-- takes: id text
delete from projects p
where id = :id and not is_default and not exists (select 1 from workspaces where project_id = p.id);
