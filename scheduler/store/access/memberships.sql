-- SPDX-License-Identifier: MPL-2.0

-- fragment: memberships_columns(user)
-- Columns of a membership with memberships_tables. `teams` are those that the requester sees.
m.id, m.organization_id, o.name as organization_name, m.user_id, coalesce(m.email, u.email) as email,
    u.username, m.status, m.created_at,
    o.settings ->> 'collaborator-auth-policy' is not distinct from 'two_factor_mandatory' as needs_factor,
    (
        select coalesce(jsonb_agg(tm.team_id order by tm.team_id), '[]')
        from team_members tm
        join teams t on t.id = tm.team_id
        where tm.organization_id = m.organization_id and tm.user_id = m.user_id
            and :team_in_scope(:secret_teams_in_scope(:user), :user)
    ) as teams;

-- fragment: memberships_tables()
-- Memberships of people with their organizations.
from organization_memberships m
join organizations o on o.id = m.organization_id
join users u on u.id = m.user_id and not u.is_service_account;

-- fragment: memberships_page()
-- One page of the memberships `found`, with the total in each row; one row without a membership if the page is empty.
select c.total, f.*
from (select count(*) as total from found) c
left join (
    select :memberships_columns(:user) :memberships_tables()
    where m.id in (select id from found)
    order by m.created_at, m.id
    limit :limit
    offset :offset
) f on true
order by f.created_at, f.id;

-- shape: membership
-- total bigint optional, id text, organization_id text, organization_name text, user_id text, email text,
-- username text null, status text, created_at timestamptz, needs_factor boolean, teams jsonb

-- statement: memberships_list
-- One page of an organization's memberships, the oldest first.
-- index: organization_memberships_id, team_members_user, teams_id_organization_id_key, teams_organization
-- takes: organization_id text, search text, emails text, status text, limit bigint, offset bigint, user text
-- gives: membership
with found as (
    select m.id :memberships_tables()
    where m.organization_id = :organization_id
        and (:search::text is null or strpos(lower(u.email), lower(:search)) > 0
                or strpos(lower(u.username), lower(:search)) > 0)
        and (:emails::text is null or lower(u.email) = any(string_to_array(lower(:emails), ',')))
        and (:status::text is null or m.status = :status)
)
:memberships_page();

-- statement: memberships_of_user
-- One page of the memberships of a user in organizations that are not disabled, without invitations, the oldest first.
-- index: organization_memberships_user, team_members_user, teams_id_organization_id_key, teams_organization
-- takes: user_id text, limit bigint, offset bigint, user text
-- gives: membership
with found as (
    select m.id :memberships_tables()
    where m.user_id = :user_id and m.status = 'active' and not o.is_disabled
)
:memberships_page();

-- statement: memberships_of_team
-- One page of the memberships of a team's members, the oldest first.
-- index: team_members_user, teams_id_organization_id_key, teams_organization
-- takes: team_id text, status text, limit bigint, offset bigint, user text
-- gives: membership
with found as (
    select m.id :memberships_tables()
    join team_members x on x.organization_id = m.organization_id and x.user_id = m.user_id
    where x.team_id = :team_id and (:status::text is null or m.status = :status)
)
:memberships_page();

-- statement: memberships_read_all
-- The memberships with these ids.
-- index: organization_memberships_id, team_members_user, teams_id_organization_id_key, teams_organization
-- takes: ids text[], user text
-- gives: membership
select :memberships_columns(:user) :memberships_tables() where m.id = any(:ids::text[]);

-- statement: membership_read
-- The membership of that id.
-- index: organization_memberships_id, team_members_user, teams_id_organization_id_key, teams_organization
-- takes: id text, user text
-- gives: membership
select :memberships_columns(:user) :memberships_tables() where m.id = :id;

-- statement: membership_guarded
-- A row if the member is an owner, or is in a team that the requester does not see.
-- index: team_members_user, teams_organization
-- takes: organization_id text, user_id text, everywhere boolean, user text
-- gives: owners boolean
select t.kind = 'owners' as owners
from teams t
join team_members m on m.team_id = t.id
where t.organization_id = :organization_id and m.user_id = :user_id
    and (t.kind = 'owners' or not (:team_in_scope(:everywhere::boolean, :user)))
order by t.kind <> 'owners'
limit 1;

-- statement: member_of_email
-- A row if a member of the organization with a name has that address.
-- index: users_by_email
-- takes: organization_id text, email text
select 1
from organization_memberships m
join users u on u.id = m.user_id and u.username is not null and not u.is_service_account
where m.organization_id = :organization_id and lower(u.email) = lower(:email)
limit 1;

-- statement: invited_user_ensure
-- The user without a name who has that address; creates them if there is none.
-- takes: new_id text, email text
-- gives: id text
insert into users (id, email)
values (:new_id, lower(:email))
on conflict (lower(email))
where username is null do update set email = users.email
returning id;

-- statement: invitation_expired_delete
-- Deletes the user's expired invitation to the organization.
-- index: organization_memberships_user
-- takes: organization_id text, id text
delete from organization_memberships m
where m.organization_id = :organization_id and m.user_id = :id and :invitation_expired();

-- statement: invited_teams_join
-- Makes the invited user a member of those of the teams that the requester sees and that follow no SCIM group, and
-- counts them.
-- index: scim_team_mappings_pkey, team_members_user, teams_name, teams_organization
-- takes: ids text[], organization_id text, user_id text, user text
-- gives: joined bigint
with j as (
    insert into team_members (team_id, organization_id, user_id)
    select t.id, t.organization_id, :user_id
    from teams t
    where t.id = any(:ids::text[]) and t.organization_id = :organization_id
        and :team_in_scope(:secret_teams_in_scope(:user), :user)
        and not exists (select 1 from scim_team_mappings s where s.team_id = t.id)
    returning 1
)
select count(*) as joined
from j;

-- statement: membership_insert
-- Creates the invitation.
-- takes: id text, organization_id text, user_id text, email text
insert into organization_memberships (id, organization_id, user_id, status, email)
values (:id, :organization_id, :user_id, 'invited', :email);

-- statement: membership_owners_lock
-- Locks the owners team of the membership's organization, so that concurrent removals can't remove the last two
-- owners.
-- index: organization_memberships_id, teams_name
-- takes: id text
select 1
from teams t
join organization_memberships m on m.organization_id = t.organization_id
where m.id = :id and t.kind = 'owners'
for update of t;

-- statement: membership_followed
-- A SCIM group that puts the member into a team, by name.
-- index: organization_memberships_id, scim_team_mappings_pkey, team_members_user
-- takes: id text
-- gives: group_name text
select g.display_name as group_name
from organization_memberships m
join team_members d on d.user_id = m.user_id and d.organization_id = m.organization_id and d.source = 'scim'
join scim_team_mappings s on s.team_id = d.team_id
join scim_groups g on g.id = s.group_id
where m.id = :id
order by g.display_name
limit 1;

-- statement: membership_delete
-- Deletes the membership.
-- index: organization_memberships_id
-- takes: id text
-- gives: organization_id text, user_id text
delete from organization_memberships where id = :id returning organization_id, user_id;
