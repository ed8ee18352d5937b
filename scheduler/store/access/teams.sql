-- SPDX-License-Identifier: MPL-2.0

-- fragment: teams_columns(user)
-- Columns of a team with teams_tables. Clients remove users by username, so `users` excludes invited users, who
-- have none. `memberships` includes them.
:rights_in_organization(:user, t.organization_id) as rights, t.id, t.organization_id, t.user_id, t.name,
    t.kind, t.visibility, t.organization_access, t.sso_team_id, t.allow_member_token_management,
    t.created_at, o.name as organization_name, sc.is_enabled as scim_enabled, sg.display_name as scim_group_name,
    sm.synced_at as scim_synced_at, coalesce(sm.is_paused, false) as scim_paused,
    (
        select coalesce(jsonb_agg(m.user_id order by m.user_id), '[]')
        from team_members m
        join users u on u.id = m.user_id and u.username is not null
        where m.team_id = t.id and m.user_id <> t.user_id
    ) as users,
    (
        select coalesce(jsonb_agg(om.id order by m.user_id), '[]')
        from team_members m
        join organization_memberships om on om.organization_id = m.organization_id
            and om.user_id = m.user_id
        where m.team_id = t.id and m.user_id <> t.user_id
    ) as memberships;

-- fragment: teams_tables()
-- Teams with their organizations, and the SCIM groups that they follow.
from teams t
join organizations o on o.id = t.organization_id
left join scim_team_mappings sm on sm.team_id = t.id
left join scim_groups sg on sg.id = sm.group_id
cross join scim_settings sc;

-- fragment: team_members_named()
-- The selected members of the team's organization, by the ids of their memberships or by their usernames.
select t.organization_id, m.user_id
from teams t
join organization_memberships m on m.organization_id = t.organization_id
join users u on u.id = m.user_id and not u.is_service_account
where t.id = :team_id and case when :by_membership::boolean then m.id = any(:names::text::text[])
    else lower(u.username) = any(lower(:names::text)::text[]) end;

-- shape: team
-- total bigint optional, rights bigint, id text, organization_id text, user_id text, name text, kind text,
-- visibility text, organization_access jsonb, sso_team_id text null, allow_member_token_management boolean,
-- created_at timestamptz, organization_name text, scim_enabled boolean, scim_group_name text null,
-- scim_synced_at timestamptz null, scim_paused boolean, users jsonb, memberships jsonb

-- statement: team_read
-- The team, if the requester sees it.
-- index: organization_memberships_user, team_members_user, teams_id_organization_id_key, teams_organization
-- reads: scim_settings
-- takes: id text, user text
-- gives: team
select :teams_columns(:user) :teams_tables()
where t.id = :id and :team_in_scope(:secret_teams_in_scope(:user), :user);

-- statement: teams_read_all
-- Those of the teams that the requester sees.
-- index: organization_memberships_user, team_members_user, teams_name, teams_organization
-- reads: scim_settings
-- takes: ids text[], user text
-- gives: team
select :teams_columns(:user) :teams_tables()
where t.id = any(:ids::text[]) and :team_in_scope(:secret_teams_in_scope(:user), :user);

-- statement: teams_list
-- One page of the organization's teams that the requester sees: the owners first, then by name.
-- index: organization_memberships_user, team_members_user, teams_id_organization_id_key, teams_name,
-- teams_organization
-- reads: scim_settings
-- takes: organization_id text, search text, names text, limit bigint, offset bigint, user text,
-- everywhere boolean
-- gives: team
with found as (
    select t.id
    from teams t
    where t.organization_id = :organization_id
        and (:search::text is null or strpos(lower(t.name), lower(:search)) > 0)
        and (:names::text is null or lower(t.name) = any(string_to_array(lower(:names), ',')))
        and :team_in_scope(:everywhere::boolean, :user)
)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    select :teams_columns(:user) :teams_tables()
    where t.id in (select id from found)
    order by t.kind <> 'owners', lower(t.name), t.id
    limit :limit
    offset :offset
) f on true
order by f.kind <> 'owners', lower(f.name), f.id;

-- statement: team_built_in
-- The organization's team of a built-in kind.
-- index: teams_organization
-- takes: organization_id text, kind text
-- gives: id text, user_id text
select id, user_id from teams where organization_id = :organization_id and kind = :kind;

-- statement: owners_among
-- A row if one of the teams is an owners team.
-- index: teams_name
-- takes: ids text[]
select 1 from teams where id = any(:ids::text[]) and kind = 'owners';

-- statement: team_has_member
-- A row if the user is a member of the team.
-- takes: team_id text, user_id text
select 1 from team_members where team_id = :team_id and user_id = :user_id;

-- statement: team_create
-- Creates a team with its service user, who becomes a member of the organization and of the team.
-- takes: id text, user_id text, username text, organization_id text, name text, kind text, visibility text,
-- access jsonb, sso_team_id text, allow_member_token_management boolean, rights bigint, membership_id text
with u as (
    insert into users (id, username, is_service_account) values (:user_id, :username, true)
),
t as (
    insert into teams (
        id, organization_id, user_id, name, kind, visibility, organization_access, sso_team_id,
            allow_member_token_management, rights)
    values (:id, :organization_id, :user_id, :name, :kind, :visibility, :access::jsonb, :sso_team_id,
            :allow_member_token_management, :rights)
),
m as (
    insert into organization_memberships (id, organization_id, user_id)
    values (:membership_id, :organization_id, :user_id)
)
insert into team_members (team_id, organization_id, user_id)
values (:id, :organization_id, :user_id);

-- statement: team_update
-- Changes a team. If `access` is null, it and the rights are unchanged.
-- index: teams_id_organization_id_key
-- takes: id text, name text, visibility text, access jsonb, sso_team_id text,
-- allow_member_token_management boolean, rights bigint
update teams
set name = :name, visibility = :visibility, sso_team_id = :sso_team_id,
    organization_access = coalesce(:access::jsonb, organization_access),
    rights = case when :access::jsonb is null then rights else :rights end,
    allow_member_token_management = :allow_member_token_management, updated_at = now()
where id = :id;

-- statement: team_delete
-- Deletes the team and the membership of its service user, who is kept because other rows refer to them.
-- index: organization_memberships_user, teams_id_organization_id_key
-- takes: id text
with t as (delete from teams where id = :id returning organization_id, user_id)
delete from organization_memberships m using t
where m.organization_id = t.organization_id and m.user_id = t.user_id;

-- statement: organization_join
-- Makes the user a member, also one who is only invited.
-- takes: organization_id text, user_id text, new_id text
insert into organization_memberships (id, organization_id, user_id)
values (:new_id, :organization_id, :user_id)
on conflict (organization_id, user_id) do update set status = 'active';

-- statement: owners_join
-- Makes the member an owner.
-- index: teams_name
-- takes: organization_id text, user_id text
insert into team_members (team_id, organization_id, user_id)
select id, organization_id, :user_id
from teams
where organization_id = :organization_id and kind = 'owners'
on conflict do nothing;

-- statement: team_members_add
-- Adds the selected members to the team, and counts them.
-- index: teams_id_organization_id_key
-- takes: team_id text, names text, by_membership boolean
-- gives: found bigint
with n as (:team_members_named()),
i as (
    insert into team_members (team_id, organization_id, user_id)
    select :team_id, organization_id, user_id
    from n
    on conflict do nothing
)
select count(*) as found
from n;

-- statement: owners_lock
-- Locks the owners team, so that concurrent removals can't remove the last two owners.
-- index: teams_name
-- takes: organization_id text
select 1 from teams where organization_id = :organization_id and kind = 'owners' for update;

-- statement: owners_any
-- A row if the organization has an owner with a name besides the service user.
-- index: teams_name
-- takes: organization_id text
select 1
from teams t
join team_members m on m.team_id = t.id and m.user_id <> t.user_id
join users u on u.id = m.user_id and u.username is not null
where t.organization_id = :organization_id and t.kind = 'owners'
limit 1;

-- statement: team_lock
-- Locks the team.
-- index: teams_id_organization_id_key
-- takes: team_id text
-- gives: organization_id text, kind text
select organization_id, kind from teams where id = :team_id for update;

-- statement: team_members_remove
-- Removes the selected members from the team.
-- index: team_members_user, teams_id_organization_id_key
-- takes: team_id text, names text, by_membership boolean
delete from team_members d
using (:team_members_named()) n
where d.team_id = :team_id and d.user_id = n.user_id;
