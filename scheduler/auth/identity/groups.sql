-- SPDX-License-Identifier: MPL-2.0

-- fragment: provider_accepted(organization)
-- The condition that the provider's groups count in the organization: all accept that of SAML.
(:kind = 'saml' or exists (
        select 1
        from organization_providers a
        where a.organization_id = :organization and a.provider_id = :provider_id
        offset 0
    ));

-- statement: groups_teams
-- The teams that the groups lead to.
-- index: organization_providers_provider, organizations_owners_role, organizations_pkey, teams_group, teams_name
-- takes: kind text, provider_id text, groups text[]
-- gives: team_id text, organization_id text
select t.id as team_id, t.organization_id
from unnest(:groups::text[]) g(name)
cross join lateral (
    select x.id, x.organization_id, x.kind
    from teams x
    where coalesce(nullif(x.sso_team_id, ''), x.name) = g.name
    offset 0
) t
cross join lateral (
    select o.id from organizations o where o.id = t.organization_id and not o.is_disabled offset 0
) o
where t.kind = 'team' and :provider_accepted(o.id)
    and not exists (select 1 from scim_team_mappings s where s.team_id = t.id)
union all
select t.id, t.organization_id
from unnest(:groups::text[]) g(name)
cross join lateral (
    select x.id
    from organizations x
    where x.settings ->> 'owners-team-saml-role-id' = g.name
        and x.settings ->> 'owners-team-saml-role-id' <> '' and not x.is_disabled
    offset 0
) o
join teams t on t.organization_id = o.id and t.kind = 'owners'
where :provider_accepted(o.id);

-- statement: groups_organizations_join
-- Makes the user a member of the organizations; an invitation is accepted.
-- takes: user_id text, organizations text[], new_ids text[]
insert into organization_memberships (id, organization_id, user_id, source)
select distinct on (n.organization_id) n.new_id, n.organization_id, :user_id, 'sso'
from unnest(:organizations::text[], :new_ids::text[]) n(organization_id, new_id)
on conflict (organization_id, user_id) do update
set status = 'active', email = null
where organization_memberships.status <> 'active';

-- shape: changed_membership
-- team_id text, organization_id text

-- statement: groups_teams_join
-- Makes the user a member of the teams, and returns those of which they were none.
-- takes: user_id text, provider_id text, teams text[], organizations text[]
-- gives: changed_membership
insert into team_members (team_id, organization_id, user_id, source, provider_id)
select n.team_id, n.organization_id, :user_id, 'sso', :provider_id
from unnest(:teams::text[], :organizations::text[]) n(team_id, organization_id)
on conflict do nothing
returning team_id, organization_id;

-- fragment: teams_to_leave()
-- The user's memberships `m`, in teams `t`, that the provider's groups made and no longer lead to, and all in
-- teams with an `sso-team-id`.
from team_members m
join teams t on t.id = m.team_id
where m.user_id = :user_id and not m.team_id = any(:teams::text[])
    and not exists (select 1 from scim_team_mappings s where s.team_id = t.id)
    and (m.source = 'sso' and m.provider_id = :provider_id
            or t.kind = 'team' and t.sso_team_id <> '' and :provider_accepted(t.organization_id));

-- fragment: other_owner()
-- The condition that an owners team `t` has another member with a name who is not suspended.
exists (
    select 1
    from team_members x
    join users u on u.id = x.user_id and u.username is not null and not u.is_service_account
        and not u.is_suspended
    where x.team_id = t.id and x.user_id <> :user_id
);

-- statement: groups_teams_leave
-- Ends the memberships that the groups no longer lead to, and returns them. The last owner stays. Call
-- user_owned_lock before.
-- index: organization_providers_provider, team_members_user
-- takes: kind text, provider_id text, user_id text, teams text[]
-- gives: changed_membership
delete from team_members d
where d.user_id = :user_id
    and d.team_id in (select m.team_id :teams_to_leave() and (t.kind <> 'owners' or :other_owner()))
returning d.team_id, d.organization_id;

-- statement: groups_owners_kept
-- The organizations of which the user is the last owner, though no group leads there any more.
-- index: organization_providers_provider, team_members_user
-- takes: kind text, provider_id text, user_id text, teams text[]
-- gives: organization_id text
select t.organization_id :teams_to_leave() and t.kind = 'owners';

-- statement: groups_organizations_leave
-- Ends the memberships of organizations that groups made, where the user has no team any more.
-- index: organization_memberships_user, team_members_user
-- takes: user_id text
delete from organization_memberships o
where o.user_id = :user_id and o.source = 'sso'
    and not exists (
        select 1 from team_members m where m.user_id = :user_id and m.organization_id = o.organization_id
    );
