-- SPDX-License-Identifier: MPL-2.0

-- statement: session_create
-- takes: hash text, user_id text, address text
insert into sessions (hash, user_id, address) values (:hash, :user_id, :address);

-- statement: session_from
-- takes: username text, address text
select 1
from sessions s
join users u on u.id = s.user_id
where lower(u.username) = lower(:username) and s.address = :address
limit 1;

-- statement: session_delete
-- takes: hash text
delete from sessions where hash = :hash;

-- statement: sessions_sweep
with s as (delete from sessions where created_at < now() - interval '60 days')
delete from oauth_codes
where created_at < now() - interval '1 hour';
