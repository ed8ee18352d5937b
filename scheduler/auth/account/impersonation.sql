-- SPDX-License-Identifier: MPL-2.0

-- statement: impersonation_target
-- The user as whom a site admin wants to act.
-- index: users_pkey
-- takes: user_id text
-- gives: username text null, is_service_account boolean, is_suspended boolean
select username, is_service_account, is_suspended from users where id = :user_id;

-- statement: impersonation_begin
-- Replaces the session of a site admin by one in which they act as the user. It keeps how the admin has signed in.
-- index: sessions_pkey
-- takes: hash text, new_hash text, user_id text, reason text
-- gives: user_id text
with own as (
    delete from sessions where hash = :hash and impersonator_id is null returning *
)
insert into sessions (
    hash, user_id, address, agent, method, factors, provider_id, provider_session, authenticated_at,
        impersonator_id, impersonation_reason)
select :new_hash, :user_id, address, agent, method, factors, provider_id, provider_session, authenticated_at,
    user_id, :reason
from own
returning user_id;

-- statement: impersonation_end
-- Replaces the session by one of the site admin, and returns both users. The new session is as old as the sign-in.
-- index: sessions_pkey
-- takes: hash text, new_hash text
-- gives: user_id text, impersonator_id text null
with acted as (
    delete from sessions where hash = :hash and impersonator_id is not null returning *
),
own as (
    insert into sessions (
        hash, user_id, address, agent, method, factors, provider_id, provider_session, authenticated_at,
            created_at)
    select :new_hash, impersonator_id, address, agent, method, factors, provider_id, provider_session,
        authenticated_at, authenticated_at
    from acted
)
select user_id, impersonator_id
from acted;
