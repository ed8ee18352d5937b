-- SPDX-License-Identifier: MPL-2.0

-- fragment: scim_groups_select()
-- Groups, with their members if `members` says so.
select g.id, g.display_name, g.external_id, :sql_time(g.created_at) as created_at,
    :sql_time(g.updated_at) as updated_at,
    case
        when :members::boolean then (
            select coalesce(jsonb_agg(jsonb_build_object(
                'value', m.scim_user_id, 'display', coalesce(m.display, s.user_name)
            ) order by m.created_at, m.scim_user_id), '[]')
            from scim_group_members m
            join scim_users s on s.id = m.scim_user_id
            where m.group_id = g.id
        )
    end as members
from scim_groups g;

-- fragment: scim_groups_page(condition)
-- One page of the groups that match, the oldest first, and their number.
with found as (select g.id, g.created_at from scim_groups g where :condition)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    :scim_groups_select() where g.id in (select id from found order by created_at, id limit :limit offset :offset)
) f on true
order by f.created_at, f.id;

-- shape: scim_group
-- total bigint optional, id text, display_name text, external_id text null, created_at text, updated_at text,
-- members jsonb

-- statement: scim_group_read
-- The group of that id.
-- index: scim_group_members_pkey, scim_groups_pkey
-- takes: id text, members boolean
-- gives: scim_group
:scim_groups_select() where g.id = :id;

-- statement: scim_group_lock
-- Locks the group.
-- index: scim_groups_pkey
-- takes: id text
-- gives: display_name text, external_id text null
select display_name, external_id from scim_groups where id = :id for update;

-- statement: scim_groups_all
-- One page of all groups.
-- reads: scim_groups
-- takes: members boolean, limit bigint, offset bigint
-- gives: scim_group
:scim_groups_page(true);

-- statement: scim_groups_of_name
-- The group of that name, in any case.
-- index: scim_groups_name
-- takes: members boolean, value text, limit bigint, offset bigint
-- gives: scim_group
:scim_groups_page(lower(g.display_name) = lower(:value));

-- statement: scim_groups_of_external
-- The groups with that id at the provider.
-- index: scim_groups_external
-- takes: like scim_groups_of_name
-- gives: scim_group
:scim_groups_page(g.external_id = :value);

-- statement: scim_groups_of_id
-- The group of that id.
-- index: scim_groups_pkey
-- takes: like scim_groups_of_name
-- gives: scim_group
:scim_groups_page(g.id = :value);

-- statement: scim_groups_found
-- One page of the groups that match a filter.
-- reads: scim_groups
-- takes: members boolean, limit bigint, offset bigint, alternatives bigint[], names text[], subs text[],
-- operators text[], values text[], exact boolean[], negated boolean[]
-- gives: scim_group
:scim_groups_page({:scim_matches({(jsonb_build_object(
        'id', g.id, 'displayName', g.display_name, 'externalId', g.external_id,
        'meta', jsonb_build_object('resourceType', 'Group', 'created', :sql_time(g.created_at),
            'lastModified', :sql_time(g.updated_at)),
        'members', case when 'members' = any(:names::text[]) then (
            select coalesce(jsonb_agg(jsonb_build_object('value', x.scim_user_id)), '[]')
            from scim_group_members x
            where x.group_id = g.id
        ) end))})});

-- statement: scim_groups_named
-- One page of the groups whose names contain a text, in any case, by name, with the teams that follow them: for site
-- admins.
-- index: organizations_pkey, scim_group_members_pkey, scim_team_mappings_group, teams_id_organization_id_key
-- reads: scim_groups
-- takes: search text, limit bigint, offset bigint
-- gives: total bigint, id text, display_name text, members bigint, teams jsonb
with found as (
    select id, display_name
    from scim_groups
    where :search::text is null or strpos(lower(display_name), lower(:search)) > 0
)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    select g.id, g.display_name,
        (select count(*) from scim_group_members m where m.group_id = g.id) as members,
        (
            select coalesce(jsonb_agg(jsonb_build_object(
                'id', t.id, 'name', t.name, 'organization', o.name, 'paused', m.is_paused
            ) order by o.name, t.name), '[]')
            from scim_team_mappings m
            join teams t on t.id = m.team_id
            join organizations o on o.id = t.organization_id
            where m.group_id = g.id
        ) as teams
    from found g
    order by lower(g.display_name), g.id
    limit :limit
    offset :offset
) f on true
order by lower(f.display_name), f.id;

-- statement: scim_group_create
-- Creates a group.
-- takes: id text, display_name text, external_id text
insert into scim_groups (id, display_name, external_id) values (:id, :display_name, :external_id);

-- statement: scim_group_update
-- Writes the group's name and its id at the provider.
-- index: scim_groups_pkey
-- takes: id text, display_name text, external_id text
update scim_groups
set display_name = :display_name, external_id = :external_id, updated_at = now()
where id = :id;

-- statement: scim_group_delete
-- Deletes the group with its memberships and mappings.
-- index: scim_groups_pkey
-- takes: id text
delete from scim_groups where id = :id;

-- statement: scim_members_add
-- Adds users to the group. Returns the number of ids that are no users, and of the group's members afterwards.
-- index: scim_group_members_pkey, scim_users_pkey
-- takes: group_id text, ids text[], displays text[]
-- gives: missing bigint, members bigint
with wanted as (
    select distinct on (id) id, display from unnest(:ids::text[], :displays::text[]) as w(id, display)
),
found as (select s.id, w.display from wanted w join scim_users s on s.id = w.id),
added as (
    insert into scim_group_members (group_id, scim_user_id, display)
    select :group_id, id, display
    from found
    on conflict (group_id, scim_user_id) do update set display = excluded.display
    where excluded.display is not null and scim_group_members.display is distinct from excluded.display
    returning scim_user_id, xmax = 0 as is_new
)
select (select count(*) from wanted) - (select count(*) from found) as missing,
    (select count(*) from scim_group_members where group_id = :group_id)
        + (select count(*) from added where is_new) as members;

-- statement: scim_members_remove
-- Removes users from the group.
-- index: scim_group_members_pkey
-- takes: group_id text, ids text[]
delete from scim_group_members where group_id = :group_id and scim_user_id = any(:ids::text[]);

-- statement: scim_members_keep
-- Removes all but these users from the group.
-- index: scim_group_members_pkey
-- takes: group_id text, ids text[]
delete from scim_group_members where group_id = :group_id and scim_user_id <> all(:ids::text[]);
