-- SPDX-License-Identifier: MPL-2.0

-- statement: identity_lock
-- Serializes sign-ins of one account until the transaction ends.
-- takes: issuer text, subject text
select pg_advisory_xact_lock(hashtextextended(:issuer || ' ' || :subject, 0));

-- statement: identity_use
-- Records a sign-in, and returns the account; no row if there is none.
-- index: identities_pkey, users_pkey
-- takes: issuer text, subject text, provider_id text
-- gives: user_id text, username text null, is_suspended boolean
with i as (
    update identities
    set last_sign_in_at = now(), provider_id = :provider_id
    where issuer = :issuer and subject = :subject
    returning user_id
)
select u.id as user_id, u.username, u.is_suspended
from i
join users u on u.id = i.user_id;

-- statement: identity_owner
-- The user to whom the identity belongs.
-- index: identities_pkey
-- takes: issuer text, subject text
-- gives: user_id text
select user_id from identities where issuer = :issuer and subject = :subject;

-- statement: identity_insert
-- Ties the identity to the user.
-- takes: issuer text, subject text, user_id text, provider_id text
insert into identities (issuer, subject, user_id, provider_id)
values (:issuer, :subject, :user_id, :provider_id)
on conflict (issuer, subject) do update set provider_id = excluded.provider_id;

-- statement: username_free
-- The first of the names NAME, NAME-2, NAME-3 that nobody has, in any case.
-- index: users_username
-- takes: name text
-- gives: username text
with recursive c as (
    select 1 as n, :name::text as username
    union all
    select c.n + 1, :name || '-' || c.n + 1
    from c
    where c.n < 100000 and exists (select 1 from users u where lower(u.username) = lower(c.username))
)
select c.username
from c
where not exists (select 1 from users u where lower(u.username) = lower(c.username));

-- statement: identity_user_create
-- Creates a person.
-- takes: id text, username text, email text, email_confirmed boolean
insert into users (id, username, email, email_confirmed)
values (:id, :username, :email, :email_confirmed);

-- statement: identity_site_admin
-- Makes the person a site admin or not. The last site admin stays one.
-- index: users_pkey
-- reads: users
-- takes: user_id text, wanted boolean
update users
set is_site_admin = :wanted
where id = :user_id and is_site_admin <> :wanted
    and (:wanted or exists (
            select 1
            from users x
            where x.is_site_admin and x.id <> :user_id and not x.is_suspended and not x.is_service_account
        ));

-- shape: identity
-- provider_id text null, provider_name text null, issuer text, subject text, created_at timestamptz,
-- last_sign_in_at timestamptz

-- statement: identities_of_user
-- The user's identities, the oldest first.
-- index: identities_user
-- reads: identity_providers
-- takes: user_id text
-- gives: identity
select i.provider_id, p.name as provider_name, i.issuer, i.subject, i.created_at, i.last_sign_in_at
from identities i
left join identity_providers p on p.id = i.provider_id
where i.user_id = :user_id
order by i.created_at, i.issuer;

-- statement: identity_other_way
-- A row if the user can sign in without that provider: by a password, or through another one.
-- index: identities_user, users_pkey
-- takes: user_id text, provider_id text
select 1
from users u
where u.id = :user_id
    and (u.password_hash is not null
            or exists (
                select 1
                from identities i
                where i.user_id = u.id and i.provider_id is distinct from :provider_id
            ));

-- statement: identity_delete
-- Unlinks the user's identities of the provider, and ends what was made through it.
-- index: identities_provider, sessions_provider, tokens_provider
-- takes: user_id text, provider_id text
with s as (delete from sessions where user_id = :user_id and provider_id = :provider_id),
t as (delete from tokens where user_id = :user_id and provider_id = :provider_id)
delete from identities
where user_id = :user_id and provider_id = :provider_id;
