-- SPDX-License-Identifier: MPL-2.0

-- fragment: session_public_id(s)
-- The id by which people name a session. Its digest is not shown.
'sess-' || left(:s.hash, 16);

-- shape: account_session
-- id text, hash text, address text, agent text null, method text, factors jsonb, provider text null,
-- impersonator text null, created_at timestamptz, last_seen_at timestamptz

-- statement: account_sessions
-- The user's valid sessions, those with the last use first.
-- index: organization_memberships_user, sessions_user, users_pkey
-- takes: user_id text
-- gives: account_session
select :session_public_id(s) as id, s.hash, s.address, s.agent, s.method, to_jsonb(s.factors) as factors,
    p.name as provider, a.username as impersonator, s.created_at, s.last_seen_at
from sessions s
left join identity_providers p on p.id = s.provider_id
left join users a on a.id = s.impersonator_id :session_limits()
where s.user_id = :user_id and :session_valid()
order by s.last_seen_at desc, s.hash
limit 200;

-- statement: account_session_end
-- Ends one of the user's sessions.
-- index: sessions_user
-- takes: user_id text, id text
delete from sessions s where s.user_id = :user_id and :session_public_id(s) = :id;

-- statement: session_confirmed
-- Whether the session's user has proved the password, or has signed in, in the last 15 minutes; or has none that
-- the site accepts.
-- index: sessions_pkey, users_pkey
-- reads: site_settings
-- takes: hash text
-- gives: confirmed boolean
select s.authenticated_at > now() - interval '15 minutes' or u.password_hash is null
        or not :takes_password(u) as confirmed
from sessions s
join users u on u.id = s.user_id
where s.hash = :hash;
