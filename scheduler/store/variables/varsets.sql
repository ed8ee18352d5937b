-- SPDX-License-Identifier: MPL-2.0

-- fragment: varsets_columns()
-- Columns of a variable set with varsets_tables.
s.*, o.name as organization_name,
    (
        select coalesce(jsonb_agg(m.workspace_id order by m.workspace_id), '[]')
        from varset_workspaces m
        where m.varset_id = s.id
    ) as workspaces,
    (
        select coalesce(jsonb_agg(m.project_id order by m.project_id), '[]')
        from varset_projects m
        where m.varset_id = s.id
    ) as projects,
    (
        select coalesce(jsonb_agg(m.id order by m.key, m.category), '[]')
        from variables m
        where m.varset_id = s.id
    ) as vars;

-- fragment: varsets_tables()
-- Variable sets with their organizations.
from varsets s join organizations o on o.id = s.organization_id;

-- shape: varset
-- total bigint optional, id text, organization_id text, project_id text null, name text, description text,
-- global boolean, priority boolean, created_at timestamptz, updated_at timestamptz, organization_name text,
-- workspaces jsonb, projects jsonb, vars jsonb

-- statement: varsets_list
-- One page of the organization's sets that the requester sees, by name: all, or those that apply to the project
-- or the workspace.
-- index: team_members_user, team_projects_team, variables_varset_key, varset_projects_project, varsets_name
-- takes: organization_id text, search text, global text, project_id text, workspace_id text, limit bigint,
-- offset bigint, all boolean, user text
-- gives: varset
with found as (
    select s.id
    from varsets s
    where s.organization_id = :organization_id
        and (:search::text is null or strpos(lower(s.name), lower(:search)) > 0)
        and (:global::text is null or s.global = :global::boolean)
        and (:project_id::text is null or s.global
                or exists (
                    select 1
                    from varset_projects m
                    where m.varset_id = s.id and m.project_id = :project_id
                ) or s.project_id = :project_id)
        and (:workspace_id::text is null or s.global
                or exists (
                    select 1
                    from workspaces w
                    where w.id = :workspace_id and (s.project_id is null or s.project_id = w.project_id)
                        and (exists (
                                select 1
                                from varset_workspaces m
                                where m.varset_id = s.id and m.workspace_id = w.id
                            )
                                or exists (
                                    select 1
                                    from varset_projects m
                                    where m.varset_id = s.id and m.project_id = w.project_id
                                ))
                ))
        and (:all::boolean or s.project_id is null
                or s.project_id in (
                    select tp.project_id
                    from team_members m
                    join team_projects tp on tp.team_id = m.team_id and tp.rights & 67108864 <> 0
                    where m.user_id = :user
                ))
)
select c.total, s.*
from (select count(*) as total from found) c
left join (
    select :varsets_columns() :varsets_tables()
    where s.id in (select id from found)
    order by lower(s.name), s.id
    limit :limit
    offset :offset
) s on true
order by lower(s.name), s.id;

-- statement: varset_read
-- The set of that id.
-- index: variables_varset_key
-- takes: id text
-- gives: varset
select :varsets_columns() :varsets_tables() where s.id = :id;

-- fragment: varset_attach(of, owned, into)
-- Attaches the valid ids and returns their number. A project's own set is attached only within the project.
with may as (
    select x.id
    from varsets s
    join :of x on x.organization_id = s.organization_id
    where s.id = :id and x.id = any(:ids::text[]) and (s.project_id is null or s.project_id = x.:owned)
),
done as (insert into :into select :id, id from may on conflict do nothing)
select count(*) as found
from may;

-- shape: varset_attached
-- found bigint

-- statement: varset_attach_workspaces
-- Attaches the set to workspaces.
-- index: workspaces_name
-- takes: id text, ids text[]
-- gives: varset_attached
:varset_attach(workspaces, project_id, {varset_workspaces (varset_id, workspace_id)});

-- statement: varset_attach_projects
-- Attaches the set to projects.
-- index: projects_name
-- takes: like varset_attach_workspaces
-- gives: varset_attached
:varset_attach(projects, id, {varset_projects (varset_id, project_id)});

-- statement: varset_detach_workspaces
-- Detaches the set from the workspaces.
-- index: varset_workspaces_pkey
-- takes: like varset_attach_workspaces
delete from varset_workspaces where varset_id = :id and workspace_id = any(:ids::text[]);

-- statement: varset_detach_projects
-- Detaches the set from the projects.
-- index: varset_projects_pkey
-- takes: like varset_attach_workspaces
delete from varset_projects where varset_id = :id and project_id = any(:ids::text[]);

-- statement: varset_narrow_workspaces
-- Detaches the set from all other workspaces.
-- index: varset_workspaces_pkey
-- takes: like varset_attach_workspaces
delete from varset_workspaces where varset_id = :id and workspace_id <> all(:ids::text[]);

-- statement: varset_narrow_projects
-- Detaches the set from all other projects.
-- index: varset_projects_pkey
-- takes: like varset_attach_workspaces
delete from varset_projects where varset_id = :id and project_id <> all(:ids::text[]);

-- statement: varset_insert
-- Creates a set.
-- takes: id text, organization_id text, project_id text, name text, description text, global boolean,
-- priority boolean
insert into varsets (id, organization_id, project_id, name, description, global, priority)
values (:id, :organization_id, :project_id, :name, :description, :global, :priority);

-- statement: varset_update
-- Changes a set.
-- index: varsets_pkey
-- takes: id text, name text, description text, global boolean, priority boolean
update varsets
set name = :name, description = :description, global = :global, priority = :priority
where id = :id;

-- statement: varset_delete
-- Deletes a set with its variables.
-- index: varsets_pkey
-- takes: id text
delete from varsets where id = :id;
