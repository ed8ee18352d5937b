-- SPDX-License-Identifier: MPL-2.0

-- statement: password_update
-- Replaces the password's hash.
-- index: users_pkey
-- takes: user_id text, hash text
update users set password_hash = :hash where id = :user_id;

-- statement: sessions_end_others
-- Ends the user's sessions other than the one to keep, or all if that is null, and those in which the user acts as
-- another one.
-- index: sessions_impersonator, sessions_user
-- takes: user_id text, keep_session text
delete from sessions where (user_id = :user_id or impersonator_id = :user_id)
    and (:keep_session::text is null or hash <> :keep_session);

-- statement: person_of_name
-- The user of that name, in any case, who is a person.
-- index: users_username
-- takes: username text
-- gives: id text
select id from users where lower(username) = lower(:username) and not is_service_account;

-- statement: password_read
-- The password of the user of that name, in any case, if they may sign in with it.
-- index: users_username
-- takes: username text
-- gives: id text, password_hash text null
select id, password_hash
from users
where lower(username) = lower(:username) and password_hash is not null and not is_service_account
    and not is_suspended;
