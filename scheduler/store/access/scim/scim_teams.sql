-- SPDX-License-Identifier: MPL-2.0

-- statement: scim_mapping_read
-- The team's mapping to a group; a null group if it has none. The team is locked.
-- index: scim_team_mappings_pkey, teams_id_organization_id_key
-- takes: team_id text
-- gives: organization_id text, kind text, group_id text null, is_paused boolean
select t.organization_id, t.kind, m.group_id, coalesce(m.is_paused, false) as is_paused
from teams t
left join scim_team_mappings m on m.team_id = t.id
where t.id = :team_id and t.kind in ('owners', 'team')
for update of t;

-- statement: scim_mapping_create
-- Maps the team to the group.
-- takes: team_id text, group_id text
insert into scim_team_mappings (team_id, group_id) values (:team_id, :group_id);

-- statement: scim_mapping_pause
-- Pauses or resumes the mapping.
-- index: scim_team_mappings_pkey
-- takes: team_id text, paused boolean
update scim_team_mappings set is_paused = :paused where team_id = :team_id;

-- statement: scim_mapping_delete
-- Ends the mapping. The team's members stay, and people manage them from now on.
-- index: scim_team_mappings_pkey
-- takes: team_id text
with m as (delete from scim_team_mappings where team_id = :team_id returning team_id),
o as (
    update organization_memberships o
    set source = 'manual'
    from team_members d
    join m on m.team_id = d.team_id
    where o.organization_id = d.organization_id and o.user_id = d.user_id and o.source = 'scim'
)
update team_members d
set source = 'manual'
from m
where d.team_id = m.team_id and d.source = 'scim';

-- statement: scim_mappings_end
-- Ends all mappings.
-- reads: organization_memberships, scim_team_mappings, team_members
with m as (delete from scim_team_mappings),
o as (update organization_memberships set source = 'manual' where source = 'scim')
update team_members
set source = 'manual'
where source = 'scim';

-- statement: scim_mapped_teams_lock
-- Locks the teams that follow the groups, in the order of their ids.
-- index: scim_team_mappings_group, teams_id_organization_id_key
-- takes: group_ids text[]
select 1
from teams t
join scim_team_mappings m on m.team_id = t.id
where m.group_id = any(:group_ids::text[]) and not m.is_paused
order by t.id
for update of t;

-- statement: scim_teams_follow
-- Makes the people of the groups the only people in the teams that follow these groups. Returns who joined and who
-- left. `users`: only these SCIM users changed; null: anybody may have.
-- index: scim_group_members_pkey, scim_team_mappings_group, teams_id_organization_id_key
-- takes: group_ids text[], users text[]
-- gives: team_id text, organization_id text, user_id text, joined boolean
with mapped as (
    update scim_team_mappings m
    set synced_at = now()
    from teams t
    where m.group_id = any(:group_ids::text[]) and not m.is_paused and t.id = m.team_id
    returning m.team_id, m.group_id, t.organization_id, t.user_id as service_id
),
wanted as (
    select d.team_id, d.organization_id, s.user_id
    from mapped d
    join scim_group_members g on g.group_id = d.group_id
    join scim_users s on s.id = g.scim_user_id
    where :users::text[] is null or g.scim_user_id = any(:users::text[])
),
left_team as (
    delete from team_members x
    using mapped d
    where x.team_id = d.team_id and x.user_id <> d.service_id
        and (
            :users::text[] is null
            or x.user_id in (select user_id from scim_users where id = any(:users::text[]))
        )
        and not exists (select 1 from wanted w where w.team_id = x.team_id and w.user_id = x.user_id)
    returning x.team_id, x.organization_id, x.user_id
),
members as (
    insert into organization_memberships (id, organization_id, user_id, source)
    select 'ou-' || substr(md5(gen_random_uuid()::text), 1, 16), w.organization_id, w.user_id, 'scim'
    from (select distinct organization_id, user_id from wanted) w
    on conflict (organization_id, user_id) do update set status = 'active', email = null
    where organization_memberships.status <> 'active'
),
joined_team as (
    insert into team_members (team_id, organization_id, user_id, source)
    select team_id, organization_id, user_id, 'scim'
    from wanted
    on conflict (team_id, user_id) do update set source = 'scim'
    where team_members.source <> 'scim'
    returning team_id, organization_id, user_id
)
select team_id, organization_id, user_id, true as joined
from joined_team
union all
select team_id, organization_id, user_id, false
from left_team;

-- statement: scim_organizations_leave
-- Ends the memberships of organizations that SCIM made, where the user is in no team any more.
-- index: organization_memberships_user, team_members_user
-- takes: user_ids text[]
delete from organization_memberships o
where o.user_id = any(:user_ids::text[]) and o.source = 'scim'
    and not exists (
        select 1 from team_members m where m.user_id = o.user_id and m.organization_id = o.organization_id
    );

-- statement: scim_teams_release
-- Removes the people whom the group brought into the teams that follow it: before the group is deleted.
-- index: scim_team_mappings_group
-- takes: group_id text
-- gives: team_id text, organization_id text, user_id text
delete from team_members x
using scim_team_mappings m
where m.group_id = :group_id and x.team_id = m.team_id and x.source = 'scim'
returning x.team_id, x.organization_id, x.user_id;

-- statement: scim_site_admins_follow
-- Makes the people of the site-admin group site admins, and those who were so by the group only no longer. Does
-- nothing unless the site-admin group is among the groups. Returns whose rights changed.
-- index: scim_group_members_pkey, scim_users_pkey
-- reads: scim_settings, scim_users
-- takes: group_ids text[]
-- gives: user_id text, granted boolean
with g as (
    select site_admin_group_id as id from scim_settings where site_admin_group_id = any(:group_ids::text[])
),
granted as (
    update users u
    set is_site_admin = true
    from g
    join scim_group_members m on m.group_id = g.id
    join scim_users s on s.id = m.scim_user_id
    where u.id = s.user_id and not u.is_site_admin
    returning u.id
),
marked as (
    update scim_users s set gives_site_admin = true from granted where s.user_id = granted.id
),
gone as (
    update scim_users s
    set gives_site_admin = false
    from g
    where s.gives_site_admin
        and not exists (
            select 1 from scim_group_members m where m.group_id = g.id and m.scim_user_id = s.id
        )
    returning s.user_id
),
revoked as (
    update users u set is_site_admin = false from gone where u.id = gone.user_id returning u.id
)
select id as user_id, true as granted
from granted
union all
select id, false
from revoked;

-- statement: scim_site_admins_end
-- Ends the rights of all who are site admins by the group only.
-- reads: scim_users
-- gives: user_id text
with gone as (update scim_users set gives_site_admin = false where gives_site_admin returning user_id)
update users u
set is_site_admin = false
from gone
where u.id = gone.user_id
returning u.id as user_id;
