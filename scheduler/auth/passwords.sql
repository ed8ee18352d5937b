-- SPDX-License-Identifier: MPL-2.0

-- fragment: takes_password(u)
-- The condition that a user may sign in without an identity provider. The site can limit that to break-glass
-- accounts.
(:u.is_break_glass
    or coalesce((select (settings ->> 'password-sign-in-enabled')::boolean from site_settings), true));

-- statement: password_update
-- Replaces the password's hash.
-- index: users_pkey
-- takes: user_id text, hash text
update users set password_hash = :hash where id = :user_id;

-- statement: person_of_name
-- The user of that name, in any case, who is a person.
-- index: users_username
-- takes: username text
-- gives: id text
select id from users where lower(username) = lower(:username) and not is_service_account;

-- statement: password_read
-- The password of the user of that name, in any case, if they may sign in with it. The site can limit passwords to
-- break-glass accounts.
-- index: users_username
-- reads: site_settings
-- takes: username text
-- gives: id text, password_hash text null
select u.id, u.password_hash
from users u
where lower(u.username) = lower(:username) and u.password_hash is not null and not u.is_service_account
    and not u.is_suspended and :takes_password(u);

-- statement: password_alternatives
-- Other ways to sign in than with the password of a usual account: an enabled identity provider, and a break-glass
-- account with a password.
-- reads: identity_providers, site_settings, users
-- gives: takes_passwords boolean, has_provider boolean, has_break_glass boolean
select coalesce((select (settings ->> 'password-sign-in-enabled')::boolean from site_settings), true)
        as takes_passwords,
    exists (select 1 from identity_providers where is_enabled) as has_provider,
    exists (
        select 1
        from users
        where is_break_glass and password_hash is not null and not is_service_account and not is_suspended
    ) as has_break_glass;
