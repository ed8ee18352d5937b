-- SPDX-License-Identifier: MPL-2.0

-- fragment: oauth_connection_columns()
-- Columns of a connection with its sealed secrets, and of its token; null if it has none.
c.id, c.organization_id, o.name as organization_name, c.provider, c.http_url, c.api_url, c.key,
    c.callback_id, c.secret_sealed, c.pool_id, t.id as token_id, t.user_name, t.refresh_sealed, t.generation;

-- fragment: oauth_connection_tables()
-- Connections with their tokens.
from vcs_connections c
join organizations o on o.id = c.organization_id
left join vcs_tokens t on t.connection_id = c.id;

-- shape: oauth_connection
-- id text, organization_id text, organization_name text, provider text, http_url text, api_url text,
-- key text null, callback_id text, secret_sealed bytea null, token_id text, user_name text null,
-- refresh_sealed bytea null, generation bigint, pool_id text null

-- statement: oauth_connection_read
-- The connection with that callback.
-- index: vcs_connections_callback_id_key, vcs_tokens_connection_id_key
-- takes: callback_id text
-- gives: oauth_connection
select :oauth_connection_columns() :oauth_connection_tables() where c.callback_id = :callback_id;

-- statement: oauth_connection_of_token
-- The connection of that token, if the token can be renewed.
-- index: organizations_pkey, vcs_connections_pkey, vcs_tokens_pkey
-- takes: token_id text
-- gives: oauth_connection
select :oauth_connection_columns() :oauth_connection_tables()
where t.id = :token_id and t.refresh_sealed is not null;
