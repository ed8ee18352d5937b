-- SPDX-License-Identifier: MPL-2.0

-- shape: requester
-- id text null, user_id text null, pool_id text null, notifier boolean, username text null,
-- is_site_admin boolean, is_service_account boolean, organization_id text null, rights bigint,
-- provider_id text null optional, must_confirm boolean optional, closed text null, lacks_factor boolean optional,
-- impersonator_id text null optional, impersonator_name text null optional, stale boolean, read_only boolean,
-- only_workspace text null, first_use boolean

-- fragment: rights_of(user, organization, given)
-- The requester's rights in one workspace, project or organization. `given` adds the rights that teams have in
-- the workspace or the project. Resources read the result from the column `rights`.
case when :user::text is null then -1
    else (
        select coalesce(bit_or(g.rights), 0)
        from team_members m
        join (select id as team_id, rights from teams where organization_id = :organization :given) g on
            g.team_id = m.team_id
        where m.user_id = :user
    ) end;

-- fragment: rights_in_organization(user, organization)
-- The requester's rights in all of the organization.
:rights_of(:user, :organization, {});

-- fragment: rights_in_workspace(user, organization, workspace)
-- The requester's rights in the workspace.
:rights_of(:user, :organization,
        {
            union all
            select team_id, rights
            from team_workspaces
            where workspace_id = :workspace
            union all
            select tp.team_id, tp.rights
            from workspaces x
            join team_projects tp on tp.project_id = x.project_id
            where x.id = :workspace
        });

-- fragment: rights_in_project(user, organization, project)
-- A requester who sees a workspace also sees its project.
:rights_of(:user, :organization,
        {
            union all
            select team_id, rights
            from team_projects
            where project_id = :project
            union all
            select tw.team_id, 1048576
            from team_workspaces tw
            join workspaces x on x.id = tw.workspace_id
            where x.project_id = :project
        });

-- fragment: workspaces_with(user, mask)
-- Workspaces in which the requester's teams have one of the rights in `mask`.
select tw.workspace_id
from team_members m
join team_workspaces tw on tw.team_id = m.team_id and tw.rights & :mask <> 0
where m.user_id = :user
union all
select x.id
from team_members m
join team_projects tp on tp.team_id = m.team_id and tp.rights & :mask <> 0
join workspaces x on x.project_id = tp.project_id
where m.user_id = :user;

-- fragment: in_scope(everywhere, user, workspace, mask)
-- Conditions of lists: `everywhere` is response_scope_all().
(:everywhere::boolean or :workspace in (:workspaces_with(:user, :mask)));

-- fragment: workspace_in_scope(everywhere, user, workspace)
-- The condition that the requester sees the workspace.
:in_scope(:everywhere, :user, :workspace, 1);

-- fragment: runs_in_scope(everywhere, user, workspace)
-- The condition that the requester sees the workspace's runs.
:in_scope(:everywhere, :user, :workspace, 2);

-- fragment: project_in_scope(everywhere, user, project)
-- The condition that the requester sees the project: by its own teams, or because they see a workspace of it.
(:everywhere::boolean
        or :project in (
            select tp.project_id
            from team_members m
            join team_projects tp on tp.team_id = m.team_id and tp.rights & 1048576 <> 0
            where m.user_id = :user
            union all
            select x.project_id
            from team_members m
            join team_workspaces tw on tw.team_id = m.team_id
            join workspaces x on x.id = tw.workspace_id
            where m.user_id = :user
        ));

-- fragment: scope_has(user, rights, mask)
-- A condition on what is read together with a resource that the requester may read: a bit of `mask` is in
-- `rights`, one of the expressions above. Tokens of runs have no user; auth/run_token.h decides what they may
-- read.
(coalesce(:user::text, '') = '' or (:rights) & :mask <> 0);

-- fragment: team_in_scope(secret, user)
-- The condition that the requester sees a team `t`. `secret` says whether the requester sees the organization's
-- secret teams: a parameter, or the second fragment.
t.kind in ('owners', 'team')
    and (:secret or t.visibility = 'organization'
            or exists (select 1 from team_members v where v.team_id = t.id and v.user_id = :user));

-- fragment: secret_teams_in_scope(user)
-- Whether the requester sees the secret teams of a team `t`'s organization.
(:rights_in_organization(:user, t.organization_id)) & 17592186044416 <> 0;
