-- SPDX-License-Identifier: MPL-2.0

-- statement: watchers_find
-- A row for each watcher whose token or session is valid, and each of their organizations. The digest finds the
-- token or the session by an index. `is_acted`: a site admin acts as the user.
-- index: organization_memberships_user, organizations_closed, organizations_limiting, organizations_two_factor,
-- second_factors_user, team_members_user, teams_id_organization_id_key, tokens_hash_key
-- reads: site_settings
-- takes: hashes text[]
-- gives: n bigint, user_id text, is_site_admin boolean, organization_id text null, rights bigint, closed text
select c.n, u.id as user_id,
    u.is_site_admin and (c.is_acted or not :admin_without_factor(c.provider_id)) as is_site_admin,
    o.organization_id, o.rights, case
        when not u.is_service_account and not c.is_acted then
            :closed({
                    select x.which from (:closed_to_tokens(u.id, c.created_at)) x where c.is_token
                    union all
                    :closed_without_sso(u.id, c.provider_id)
                    union all
                    :closed_without_factor(u.id, c.provider_id)
                }) end as closed
from (
    select w.n, k.user_id, true as is_token, false as is_acted, k.provider_id, k.created_at
    from unnest(:hashes::text[])
    with ordinality as w(hash, n)
    join tokens k on k.hash = w.hash
    where :token_valid() and k.user_id is not null and not k.notifier and k.workspace_id is null
    union all
    select w.n, s.user_id, false, s.impersonator_id is not null, s.provider_id, null
    from unnest(:hashes::text[])
    with ordinality as w(hash, n)
    join sessions s on s.hash = w.hash :session_limits()
    where :session_valid()
) c
join users u on u.id = c.user_id and not u.is_suspended :memberships()
order by c.n;

-- statement: watcher_rights_read
-- The rights of each user in the workspace of the same place in the arrays.
-- index: team_members_user, team_projects_project, team_workspaces_workspace, teams_organization
-- takes: users text[], organizations text[], workspaces text[]
-- gives: n bigint, given bigint
select a.n, g.given
from unnest(:users::text[], :organizations::text[], :workspaces::text[])
with ordinality as a(who, organization, workspace, n)
cross join lateral (select :rights_in_workspace(a.who, a.organization, a.workspace) as given) g;
