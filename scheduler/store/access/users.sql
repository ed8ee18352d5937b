-- SPDX-License-Identifier: MPL-2.0

-- fragment: scim_of_user()
-- What SCIM knows of a user `u`.
(select c.is_enabled from scim_settings c) as scim_enabled,
    (select s.user_name from scim_users s where s.user_id = u.id) as scim_user_name,
    (select s.updated_at from scim_users s where s.user_id = u.id) as scim_updated_at;

-- fragment: users_select()
-- Users as all may see them.
select u.id, u.username, u.email, u.is_site_admin, u.is_service_account, :has_factor(u.id) as has_factor,
    u.created_at, :scim_of_user()
from users u;

-- fragment: users_site_select()
-- Users as site admins see them.
select u.id, u.username, u.email, u.is_site_admin, u.is_service_account, u.is_suspended, u.is_break_glass,
    :has_factor(u.id) as has_factor, u.created_at,
    :scim_of_user(),
    (
        select coalesce(jsonb_agg(o.name order by lower(o.name)), '[]')
        from organization_memberships m
        join organizations o on o.id = m.organization_id
        where m.user_id = u.id
    ) as organizations;

-- shape: user
-- total bigint optional, id text, username text null, email text null, is_site_admin boolean,
-- is_service_account boolean, has_factor boolean, is_suspended boolean optional,
-- is_break_glass boolean optional, created_at timestamptz,
-- organizations jsonb optional, scim_enabled boolean optional, scim_user_name text null optional,
-- scim_updated_at timestamptz null optional

-- statement: user_read
-- The user of that id.
-- index: second_factors_user, users_pkey
-- reads: scim_settings
-- takes: id text
-- gives: user
:users_select() where u.id = :id;

-- statement: user_of_name
-- The user of that name, in any case.
-- index: users_username
-- takes: username text
-- gives: id text
select id from users where lower(username) = lower(:username);

-- statement: users_read_all
-- The users with these ids.
-- index: second_factors_user, users_pkey
-- reads: scim_settings
-- takes: ids text[]
-- gives: user
:users_select() where u.id = any(:ids::text[]);

-- statement: user_read_known
-- The user, if the requester is that user or an active member of one of their organizations; null sees all.
-- index: organization_memberships_user, second_factors_user
-- reads: scim_settings
-- takes: id text, requester_id text
-- gives: user
:users_select()
where u.id = :id
    and (:requester_id::text is null or u.id = :requester_id
            or exists (
                select 1
                from organization_memberships m
                join organization_memberships v on v.organization_id = m.organization_id
                    and v.user_id = :requester_id and v.status = 'active'
                where m.user_id = u.id
            ));

-- statement: user_register
-- Gives the user without a name who has that address a name; creates the user if there is none.
-- index: users_invited
-- takes: new_id text, username text, email text
-- gives: id text
with invited as (
    update users
    set username = :username, email = :email
    where username is null and lower(email) = lower(:email) and not is_service_account
    returning id
),
new as (
    insert into users (id, username, email)
    select :new_id, :username, :email
    where not exists (select 1 from invited)
    returning id
)
select id
from invited
union all
select id
from new;

-- statement: user_invitations_expire
-- Deletes the new user's expired invitations.
-- index: organization_memberships_user
-- takes: id text
delete from organization_memberships m where user_id = :id and :invitation_expired();

-- statement: user_invitations_accept
-- Accepts all others, and deletes their mails that were not sent.
-- index: notifications_membership, organization_memberships_user
-- takes: id text
with gone as (
    delete from notifications n
    using organization_memberships m
    where n.membership_id = m.id and m.user_id = :id
)
update organization_memberships
set status = 'active', email = null
where user_id = :id;

-- statement: user_update
-- Changes what is not null. A different address is not confirmed.
-- index: users_pkey
-- takes: id text, username text, email text
update users
set username = coalesce(:username, username), email = coalesce(:email, email),
    email_confirmed = email_confirmed and lower(coalesce(:email, email)) = lower(email)
where id = :id;

-- statement: users_list
-- One page of all people, the oldest first.
-- index: organization_memberships_user, second_factors_user
-- reads: scim_settings, users
-- takes: search text, admin text, suspended text, limit bigint, offset bigint
-- gives: user
with found as (
    select id, created_at
    from users
    where not is_service_account
        and (:search::text is null or strpos(lower(email), lower(:search)) > 0
                or strpos(lower(username), lower(:search)) > 0)
        and (:admin::text is null or is_site_admin = (:admin = 'true'))
        and (:suspended::text is null or is_suspended = (:suspended = 'true'))
)
select c.total, f.*
from (select count(*) as total from found) c
left join (:users_site_select() from users u where u.id in (
        select id from found order by created_at, id limit :limit offset :offset
    )) f on true
order by f.created_at, f.id;

-- statement: user_read_for_site
-- The person of that id.
-- index: organization_memberships_user, second_factors_user
-- reads: scim_settings
-- takes: id text
-- gives: user
:users_site_select() from users u where u.id = :id and not u.is_service_account;

-- statement: user_reinstate
-- Ends the suspension of a person.
-- index: users_pkey
-- takes: id text
update users set is_suspended = false where id = :id and not is_service_account;

-- statement: user_set_site_admin
-- Grants or revokes the rights of a site admin.
-- index: users_pkey
-- takes: id text, admin boolean
update users set is_site_admin = :admin where id = :id and not is_service_account;

-- statement: user_owned_lock
-- Locks the owners teams of which the user is a member, in the order of their ids, so that concurrent removals
-- can't remove the last owners.
-- index: team_members_user, teams_name
-- takes: id text
-- gives: organization_id text
select t.organization_id
from teams t
join team_members m on m.team_id = t.id
where m.user_id = :id and t.kind = 'owners'
order by t.id
for update of t;

-- statement: user_delete
-- Deletes a person with their tokens, sessions and memberships.
-- index: users_pkey
-- takes: id text
delete from users where id = :id and not is_service_account;
