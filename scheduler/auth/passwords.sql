-- SPDX-License-Identifier: MPL-2.0

-- statement: passwords_set_update
-- takes: user_id text, hash text
update users set password_hash = :hash where id = :user_id;

-- statement: passwords_set_delete
-- takes: user_id text, keep_session text
delete from sessions where user_id = :user_id and (:keep_session::text is null or hash <> :keep_session);

-- statement: password_set_for
-- takes: username text
-- gives: id text
select id from users where lower(username) = lower(:username) and not is_service_account;

-- statement: password_verify
-- takes: username text
-- gives: id text, password_hash text null
select id, password_hash
from users
where lower(username) = lower(:username) and password_hash is not null and not is_service_account
    and not is_suspended;
