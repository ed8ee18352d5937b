-- SPDX-License-Identifier: MPL-2.0

-- statement: scim_token_find
-- The valid token with that digest, and whether SCIM accepts requests.
-- index: scim_tokens_hash_key
-- reads: scim_settings
-- takes: hash text
-- gives: id text, is_enabled boolean, is_paused boolean, stale boolean
select t.id, c.is_enabled, c.is_paused, coalesce(t.last_used_at < now() - interval '1 minute', true) as stale
from scim_tokens t
cross join scim_settings c
where t.hash = :hash and t.expired_at > now();

-- statement: scim_token_use
-- Records the use of the token.
-- index: scim_tokens_hash_key
-- takes: like scim_token_find
:relaxed() update scim_tokens set last_used_at = now() from relaxed where hash = :hash;

-- shape: scim_token
-- id text, description text null, creator_id text null, created_at timestamptz, last_used_at timestamptz null,
-- expired_at timestamptz

-- fragment: scim_tokens_select()
-- Tokens that have not expired.
select id, description, created_by as creator_id, created_at, last_used_at, expired_at
from scim_tokens
where expired_at > now();

-- statement: scim_tokens_list
-- All tokens that have not expired, the newest first.
-- reads: scim_tokens
-- gives: scim_token
:scim_tokens_select() order by created_at desc, id;

-- statement: scim_token_read
-- The token of that id.
-- index: scim_tokens_pkey
-- takes: id text
-- gives: scim_token
:scim_tokens_select() and id = :id;

-- statement: scim_token_create
-- Stores a token by its digest. It is valid for a year if no time is given. No row if the time is not 29 to 365 days
-- ahead.
-- takes: id text, hash text, description text, created_by text, expires_at timestamptz
-- gives: scim_token
insert into scim_tokens (id, hash, description, created_by, expired_at)
select :id, :hash, :description, :created_by, e.at
from (select coalesce(:expires_at::timestamptz, now() + interval '365 days') as at) e
where e.at between now() + interval '29 days' and now() + interval '365 days 1 minute'
returning id, description, created_by as creator_id, created_at, last_used_at, expired_at;

-- statement: scim_token_delete
-- Revokes the token.
-- index: scim_tokens_pkey
-- takes: id text
delete from scim_tokens where id = :id;
