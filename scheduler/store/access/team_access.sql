-- SPDX-License-Identifier: MPL-2.0

-- fragment: team_access_of_workspaces()
-- The access of teams to workspaces.
(
    select id, team_id, workspace_id as place_id, access, detail, null::jsonb as workspace_detail, created_at
    from team_workspaces
) a;

-- fragment: team_access_of_projects()
-- The access of teams to projects, with the same names of columns.
(
    select id, team_id, project_id as place_id, access, project_detail as detail, workspace_detail, created_at
    from team_projects
) a;

-- fragment: team_access_teams(user)
-- The teams `t` of access `a` that the requester sees.
join teams t on t.id = a.team_id and :team_in_scope(:secret_teams_in_scope(:user), :user);

-- fragment: team_access_list(table)
-- One page of the access `a` to the place, of teams that the requester sees, or of one of them, the oldest first.
with found as (
    select a.*, t.organization_id from :table :team_access_teams(:user)
    where a.place_id = :place_id and (:team_id::text is null or a.team_id = :team_id)
)
select c.total, f.*
from (select count(*) as total from found) c
left join (select * from found order by created_at, id limit :limit offset :offset) f on true
order by f.created_at, f.id;

-- fragment: team_access_read(table)
-- One access `a`, if the requester sees its team.
select a.*, t.organization_id from :table :team_access_teams(:user) where a.id = :id;

-- fragment: team_access_place(places, user)
-- The team `t` and the place `p` of new access, if both are in one organization and the requester sees the
-- team. The owners team has all permissions already.
from teams t
join :places p on p.organization_id = t.organization_id
where t.id = :team_id and t.kind = 'team' and p.id = :place_id
    and :team_in_scope(:secret_teams_in_scope(:user), :user);

-- shape: team_access
-- total bigint optional, id text, team_id text, place_id text, access text, detail jsonb,
-- workspace_detail jsonb null, created_at timestamptz, organization_id text

-- statement: workspace_access_list
-- One page of the access that teams which the requester sees have to the workspace, the oldest first.
-- index: team_members_user, team_workspaces_workspace, teams_id_organization_id_key, teams_organization
-- takes: place_id text, team_id text, limit bigint, offset bigint, user text
-- gives: team_access
:team_access_list(:team_access_of_workspaces());

-- statement: project_access_list
-- The same for a project.
-- index: team_members_user, team_projects_project, teams_id_organization_id_key, teams_organization
-- takes: like workspace_access_list
-- gives: team_access
:team_access_list(:team_access_of_projects());

-- statement: workspace_access_read
-- A team's access to a workspace, if the requester sees the team.
-- index: team_members_user, teams_id_organization_id_key, teams_organization
-- takes: id text, user text
-- gives: team_access
:team_access_read(:team_access_of_workspaces());

-- statement: project_access_read
-- The same for a project.
-- index: team_members_user, teams_id_organization_id_key, teams_organization
-- takes: like workspace_access_read
-- gives: team_access
:team_access_read(:team_access_of_projects());

-- statement: workspace_access_create
-- Gives the team access to the workspace; no row if it may not have any. The condition on `workspace_detail` is
-- true.
-- index: team_members_user, teams_id_organization_id_key, teams_organization
-- takes: id text, team_id text, place_id text, access text, rights bigint, detail jsonb,
-- workspace_detail jsonb, user text
insert into team_workspaces (id, team_id, workspace_id, access, rights, detail)
select :id, t.id, p.id, :access, :rights, :detail::jsonb :team_access_place(workspaces, :user)
    and (:workspace_detail::jsonb is null or true);

-- statement: project_access_create
-- The same for a project.
-- index: team_members_user, teams_id_organization_id_key, teams_organization
-- takes: like workspace_access_create
insert into team_projects (id, team_id, project_id, access, rights, project_detail, workspace_detail)
select :id, t.id, p.id, :access, :rights, :detail::jsonb, :workspace_detail::jsonb
:team_access_place(projects, :user) and (:workspace_detail::jsonb is null or true);

-- statement: workspace_access_update
-- Replaces a team's access to a workspace. The condition on `workspace_detail` is true.
-- index: team_workspaces_pkey
-- takes: id text, access text, rights bigint, detail jsonb, workspace_detail jsonb
update team_workspaces
set access = :access, rights = :rights, detail = :detail::jsonb
where id = :id and (:workspace_detail::jsonb is null or true);

-- statement: project_access_update
-- The same for a project.
-- index: team_projects_pkey
-- takes: like workspace_access_update
update team_projects
set access = :access, rights = :rights, project_detail = :detail::jsonb,
    workspace_detail = :workspace_detail::jsonb
where id = :id;

-- statement: workspace_access_delete
-- Ends the team's access to the workspace.
-- index: team_workspaces_pkey
-- takes: id text
delete from team_workspaces where id = :id;

-- statement: project_access_delete
-- The same for a project.
-- index: team_projects_pkey
-- takes: like workspace_access_delete
delete from team_projects where id = :id;
