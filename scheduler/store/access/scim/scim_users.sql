-- SPDX-License-Identifier: MPL-2.0

-- fragment: scim_matches(document)
-- Whether a document matches a filter: the conditions of at least one alternative. A condition is about the values
-- at `name`, or at `sub` in them, as texts; those of lists are their elements. `exact` compares with case.
exists (
    select 1
    from unnest(
        :alternatives::bigint[], :names::text[], :subs::text[], :operators::text[], :values::text[],
        :exact::boolean[], :negated::boolean[]
    ) as c(alternative, name, sub, operator, value, exact, negated)
    cross join lateral (select case when c.exact then c.value else lower(c.value) end as wanted) w
    cross join lateral (
        select coalesce(bool_or(case c.operator
            when 'pr' then v.text <> ''
            when 'eq' then v.text = w.wanted
            when 'co' then strpos(v.text, w.wanted) > 0
            when 'sw' then starts_with(v.text, w.wanted)
            when 'ew' then right(v.text, length(w.wanted)) = w.wanted
            when 'gt' then v.text collate "C" > w.wanted
            when 'ge' then v.text collate "C" >= w.wanted
            when 'lt' then v.text collate "C" < w.wanted
            when 'le' then v.text collate "C" <= w.wanted
        end), false) as found
        from jsonb_array_elements(case jsonb_typeof(:document -> c.name)
            when 'array' then :document -> c.name
            when 'null' then '[]'
            else coalesce(jsonb_build_array(:document -> c.name), '[]')
        end) e(x)
        cross join lateral (
            select case
                when jsonb_typeof(e.x) <> 'object' then e.x #>> '{}'
                when c.sub <> '' then e.x ->> c.sub
                else coalesce(e.x ->> 'value', e.x::text)
            end as raw
        ) r
        cross join lateral (select case when c.exact then r.raw else lower(r.raw) end as text) v
    ) m
    group by c.alternative
    having bool_and(m.found <> c.negated)
);

-- fragment: scim_users_select()
-- Users that SCIM made, with their accounts.
select s.id, s.user_id, u.username, u.email, s.user_name, s.external_id, s.attributes, not u.is_suspended as active,
    :sql_time(s.created_at) as created_at, :sql_time(s.updated_at) as updated_at
from scim_users s
join users u on u.id = s.user_id;

-- fragment: scim_users_page(condition)
-- One page of the users that match, the oldest first, and their number.
with found as (
    select s.id, s.created_at from scim_users s join users u on u.id = s.user_id where :condition
)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    :scim_users_select()
    where s.id in (select id from found order by created_at, id limit :limit offset :offset)
) f on true
order by f.created_at, f.id;

-- shape: scim_user
-- total bigint optional, id text, user_id text, username text null, email text null, user_name text,
-- external_id text null, attributes jsonb, active boolean, created_at text, updated_at text

-- statement: scim_user_read
-- The user of that id.
-- index: scim_users_pkey, users_pkey
-- takes: id text
-- gives: scim_user
:scim_users_select() where s.id = :id;

-- statement: scim_user_lock
-- The same, locked with the account.
-- index: scim_users_pkey, users_pkey
-- takes: id text
-- gives: scim_user
:scim_users_select() where s.id = :id for update of s, u;

-- statement: scim_users_all
-- One page of all users.
-- reads: scim_users, users
-- takes: limit bigint, offset bigint
-- gives: scim_user
:scim_users_page(true);

-- statement: scim_users_of_name
-- The user of that name, in any case.
-- index: scim_users_name
-- takes: value text, limit bigint, offset bigint
-- gives: scim_user
:scim_users_page(lower(s.user_name) = lower(:value));

-- statement: scim_users_of_external
-- The users with that id at the provider.
-- index: scim_users_external
-- takes: like scim_users_of_name
-- gives: scim_user
:scim_users_page(s.external_id = :value);

-- statement: scim_users_of_id
-- The user of that id.
-- index: scim_users_pkey
-- takes: like scim_users_of_name
-- gives: scim_user
:scim_users_page(s.id = :value);

-- statement: scim_users_found
-- One page of the users that match a filter.
-- reads: scim_users, users
-- takes: limit bigint, offset bigint, alternatives bigint[], names text[], subs text[], operators text[],
-- values text[], exact boolean[], negated boolean[]
-- gives: scim_user
:scim_users_page({:scim_matches({(s.attributes || jsonb_build_object(
        'id', s.id, 'userName', s.user_name, 'externalId', s.external_id, 'active', not u.is_suspended,
        'meta', jsonb_build_object('resourceType', 'User', 'created', :sql_time(s.created_at),
            'lastModified', :sql_time(s.updated_at))))})});

-- statement: scim_username_lock
-- Serializes the creation of accounts whose names begin alike, until the transaction ends.
-- takes: name text
select pg_advisory_xact_lock(hashtextextended('username ' || lower(:name), 0));

-- statement: scim_user_create
-- Creates an account and its SCIM user. The account's name is the first of NAME, NAME-2, NAME-3 that nobody has. No
-- row if an account that SCIM did not make has the user's name.
-- index: users_username
-- takes: id text, user_id text, name text, user_name text, external_id text, attributes jsonb, email text,
-- active boolean
-- gives: id text
with recursive names(n, name) as (
    select 1, :name::text
    union all
    select n + 1, :name || '-' || n + 1
    from names
    where n < 10000 and exists (select 1 from users u where lower(u.username) = lower(names.name))
),
account as (
    insert into users (id, username, email, email_confirmed, is_suspended)
    select :user_id, (select name from names order by n desc limit 1), :email, false, not :active::boolean
    where not exists (
            select 1
            from users x
            where lower(x.username) = lower(:user_name)
                and not exists (select 1 from scim_users y where y.user_id = x.id)
        )
    returning id
)
insert into scim_users (id, user_id, user_name, external_id, attributes)
select :id, id, :user_name, :external_id, :attributes::jsonb
from account
returning id;

-- statement: scim_user_update
-- Writes what the provider says of the user. No row if an account that SCIM did not make has the new name.
-- index: scim_users_pkey, users_pkey
-- takes: id text, user_name text, external_id text, attributes jsonb, email text
-- gives: id text
with s as (
    update scim_users s
    set user_name = :user_name, external_id = :external_id, attributes = :attributes::jsonb, updated_at = now()
    where s.id = :id
        and not exists (
            select 1
            from users x
            where lower(x.username) = lower(:user_name) and x.id <> s.user_id
                and not exists (select 1 from scim_users y where y.user_id = x.id)
        )
    returning s.id, s.user_id
),
u as (
    update users u
    set email = :email, email_confirmed = u.email_confirmed and lower(u.email) = lower(:email)
    from s
    where u.id = s.user_id and u.email is distinct from :email
)
select id
from s;

-- statement: scim_user_delete
-- Deletes the user with its memberships in groups. Its account stays.
-- index: scim_users_pkey
-- takes: id text
delete from scim_users where id = :id;

-- statement: scim_user_leave
-- Removes the user from its groups, and returns them.
-- index: scim_group_members_user
-- takes: id text
-- gives: group_id text
delete from scim_group_members where scim_user_id = :id returning group_id;

-- statement: scim_user_maintained
-- A row, if SCIM is enabled and maintains the account.
-- index: scim_users_user_id_key
-- reads: scim_settings
-- takes: user_id text
-- gives: user_id text
select s.user_id
from scim_users s
where s.user_id = :user_id and exists (select 1 from scim_settings c where c.is_enabled);

-- statement: scim_user_unclaimed
-- The account of the SCIM user whom the provider knows by that name or id, if nobody has signed in to it through a
-- provider, and if the provider is that of the settings. A name counts before an id.
-- index: identities_user, scim_users_external, scim_users_name
-- reads: identity_providers, scim_settings
-- takes: name text, provider_id text
-- gives: user_id text, username text null, is_suspended boolean
select s.user_id, u.username, u.is_suspended
from scim_users s
join users u on u.id = s.user_id
where (lower(s.user_name) = lower(:name) or s.external_id = :name)
    and not exists (select 1 from identities i where i.user_id = s.user_id)
    and (select :scim_provider() from scim_settings c) = :provider_id
order by lower(s.user_name) = lower(:name) desc
limit 1
for update of s, u;
