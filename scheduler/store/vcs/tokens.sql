-- SPDX-License-Identifier: MPL-2.0

-- fragment: vcs_token_columns()
t.id, t.connection_id, t.expires_at, t.host_keys, t.user_name, t.state, t.error, t.created_at,
    t.ssh_key_sealed is not null as has_ssh_key, c.organization_id;

-- fragment: vcs_token_tables()
from vcs_tokens t join vcs_connections c on c.id = t.connection_id;

-- shape: vcs_token
-- total bigint optional, id text, connection_id text, expires_at timestamptz null, host_keys text,
-- user_name text null, state text, error text null, created_at timestamptz, has_ssh_key boolean,
-- organization_id text

-- statement: vcs_tokens_list
-- A page of the tokens of the organization or the connection (the other id is null), the oldest first.
-- index: vcs_tokens_connection_id_key
-- takes: organization_id text, connection_id text, limit bigint, offset bigint
-- gives: vcs_token
select n.total, t.*
from (
    select count(*) as total :vcs_token_tables()
    where (:organization_id::text is null or c.organization_id = :organization_id)
        and (:connection_id::text is null or c.id = :connection_id)
) n
left join (
    select :vcs_token_columns() :vcs_token_tables()
    where (:organization_id::text is null or c.organization_id = :organization_id)
        and (:connection_id::text is null or c.id = :connection_id)
    order by t.created_at, t.id
    limit :limit
    offset :offset
) t on true
order by t.created_at, t.id;

-- statement: vcs_token_read
-- A token by its id.
-- index: vcs_connections_pkey, vcs_tokens_pkey
-- takes: id text
-- gives: vcs_token
select :vcs_token_columns() :vcs_token_tables() where t.id = :id;

-- statement: vcs_tokens_read_all
-- Tokens by their ids.
-- index: vcs_connections_pkey, vcs_tokens_pkey
-- takes: ids text[]
-- gives: vcs_token
select :vcs_token_columns() :vcs_token_tables()
where t.id = any(:ids::text[])
order by t.created_at, t.id;

-- statement: vcs_token_ensure
-- The connection's token, which is made if it is missing.
-- takes: new_id text, connection_id text
-- gives: id text
insert into vcs_tokens (id, connection_id)
values (:new_id, :connection_id)
on conflict (connection_id) do update set connection_id = excluded.connection_id
returning id;

-- statement: vcs_calls_of_connection_hasten
-- Tries the waiting calls of the connection at once.
-- index: vcs_calls_connection
-- takes: connection_id text
update vcs_calls
set due_at = now(), tries = 0
where connection_id = :connection_id and delivery = 'waiting';

-- statement: vcs_token_store
-- Stores new secrets under a new generation; empty bytes are null. The token expires after :expires_in seconds;
-- 0: never.
-- index: vcs_tokens_pkey
-- takes: id text, token_sealed bytea, refresh_sealed bytea, expires_in integer, user_name text,
-- verified boolean
update vcs_tokens
set token_sealed = nullif(:token_sealed::bytea, ''), refresh_sealed = nullif(:refresh_sealed::bytea, ''),
    expires_at = case when :expires_in > 0 then now() + make_interval(secs => :expires_in::bigint) end,
    user_name = :user_name, state = case when :verified then 'verified' else 'unverified' end, error = null,
    generation = nextval('token_generations')
where id = :id;

-- statement: vcs_token_update
-- Changes the SSH key (empty bytes remove it) and the host keys, each only if it is given.
-- index: vcs_tokens_pkey
-- takes: id text, key_changes boolean, ssh_key_sealed bytea, host_keys text
update vcs_tokens
set ssh_key_sealed = case when :key_changes then nullif(:ssh_key_sealed::bytea, '') else ssh_key_sealed end,
    host_keys = coalesce(:host_keys, host_keys)
where id = :id;

-- statement: vcs_token_judge
-- Stores whether the provider accepts the token, unless the token was replaced.
-- index: vcs_tokens_connection_id_key
-- takes: connection_id text, state text, error text, user_name text, generation bigint
update vcs_tokens
set state = :state, error = :error, user_name = coalesce(:user_name, user_name)
where connection_id = :connection_id and generation = :generation;

-- statement: vcs_token_delete
-- Deletes the token and the repositories of its connection.
-- index: vcs_repositories_connection
-- takes: id text
with gone as (delete from vcs_tokens where id = :id returning connection_id)
delete from vcs_repositories
where connection_id in (select connection_id from gone);
