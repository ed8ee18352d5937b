-- SPDX-License-Identifier: MPL-2.0

-- statement: credentials_of_connection
-- takes: connection_id text
-- gives: connection_id text, organization_id text, provider text, http_url text, api_url text, key text null,
-- pool_id text null, token_id text, generation bigint, user_name text null, token_sealed bytea null,
-- ssh_key_sealed bytea null, host_keys text, expires_in bigint, identifier text, installation_id text null
select c.id as connection_id, c.organization_id, c.provider, c.http_url, c.api_url, c.key, c.pool_id,
    t.id as token_id, t.generation, t.user_name, t.token_sealed, t.ssh_key_sealed,
    coalesce(t.host_keys, '') as host_keys,
    coalesce(extract(epoch from t.expires_at - now())::bigint, -1) as expires_in, null as identifier,
    null as installation_id
from vcs_connections c
left join vcs_tokens t on t.connection_id = c.id
where c.id = :connection_id;

-- statement: credentials_of_removal
-- takes: removal_id text
-- gives: connection_id text, organization_id text, provider text, http_url text, api_url text, key text,
-- pool_id text, token_id text, generation text, user_name text, token_sealed bytea, ssh_key_sealed bytea,
-- host_keys text, expires_in integer, identifier text, installation_id text null
select m.connection as connection_id, m.organization_id, m.provider, m.api_url as http_url, m.api_url,
    null as key, null as pool_id, m.token_id, null as generation, null as user_name, m.token_sealed,
    null::bytea as ssh_key_sealed, '' as host_keys, -1 as expires_in, m.identifier,
    null as installation_id
from vcs_hook_removals m
where m.id = :removal_id;
