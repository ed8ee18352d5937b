-- SPDX-License-Identifier: MPL-2.0

-- statement: session_create
-- Stores a session by its cookie's digest.
-- takes: hash text, user_id text, address text, agent text, method text, factors text[], provider_id text,
-- provider_session text
insert into sessions (hash, user_id, address, agent, method, factors, provider_id, provider_session)
values (:hash, :user_id, :address, :agent, :method, :factors, :provider_id, :provider_session);

-- statement: session_from_address
-- A row if the user of that name, in any case, has a session that began at the address.
-- index: sessions_user, users_username
-- takes: username text, address text
select 1
from sessions s
join users u on u.id = s.user_id
where lower(u.username) = lower(:username) and s.address = :address
limit 1;

-- statement: session_delete
-- Ends the session.
-- index: sessions_pkey
-- takes: hash text
delete from sessions where hash = :hash;

-- statement: sessions_end_others
-- Ends the user's sessions other than the one to keep, or all if that is null, and those in which the user acts as
-- another one.
-- index: sessions_impersonator, sessions_user
-- takes: user_id text, keep_session text
delete from sessions where (user_id = :user_id or impersonator_id = :user_id)
    and (:keep_session::text is null or hash <> :keep_session);

-- statement: sessions_end_of_provider
-- Ends the provider's session of that name, or all that the subject has made through it; returns their users.
-- index: identities_pkey, sessions_provider
-- takes: provider_id text, provider_session text, issuer text, subject text
-- gives: user_id text
delete from sessions s
where s.provider_id = :provider_id
    and case when :provider_session::text is null then
            s.user_id = (select i.user_id from identities i where i.issuer = :issuer and i.subject = :subject)
        else s.provider_session = :provider_session end
returning s.user_id;

-- statement: session_confirm
-- Records that the session's user has proved who they are again.
-- index: sessions_pkey
-- takes: hash text
update sessions set authenticated_at = now() where hash = :hash;

-- statement: sessions_sweep
-- Deletes sessions older than the longest limit (sixty days), and codes of logins that were not completed.
-- reads: oauth_codes, sessions
with s as (delete from sessions where created_at < now() - interval '60 days')
delete from oauth_codes
where created_at < now() - interval '1 hour';
