-- SPDX-License-Identifier: MPL-2.0

-- statement: reset_users
-- The people with that name or that confirmed address, in any case, who may sign in. At most three: several people
-- may have an address.
-- index: users_by_email, users_username
-- reads: site_settings
-- takes: name text
-- gives: id text, has_password boolean, is_recent boolean
select u.id, u.password_hash is not null and :takes_password(u) as has_password,
    (
        select count(*) >= 3
        from password_resets r
        where r.user_id = u.id and r.created_at > now() - interval '1 hour'
    ) as is_recent
from users u
where (lower(u.username) = lower(:name) or lower(u.email) = lower(:name)) and u.email is not null
    and u.email_confirmed and u.username is not null and not u.is_suspended and not u.is_service_account
order by u.id
limit 3;

-- statement: reset_insert
-- Stores a link that sets the user's password.
-- takes: id text, user_id text
insert into password_resets (id, user_id) values (:id, :user_id);

-- statement: reset_read
-- The user of a link that is at most an hour old, if they may sign in.
-- index: password_resets_pkey, users_pkey
-- reads: site_settings
-- takes: id text
-- gives: user_id text, username text null
select u.id as user_id, u.username
from password_resets r
join users u on u.id = r.user_id and not u.is_suspended and u.password_hash is not null and :takes_password(u)
where r.id = :id and r.created_at > now() - interval '1 hour';

-- statement: reset_take
-- Deletes the link, so that it is used once, and returns its user.
-- index: password_resets_pkey
-- takes: id text
-- gives: user_id text
delete from password_resets
where id = :id and created_at > now() - interval '1 hour'
returning user_id;

-- statement: resets_delete
-- Deletes the user's other links, and what their browsers have begun.
-- index: factor_attempts_user, password_resets_user
-- takes: user_id text
with a as (delete from factor_attempts where user_id = :user_id)
delete from password_resets
where user_id = :user_id;
