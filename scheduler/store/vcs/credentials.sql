-- SPDX-License-Identifier: MPL-2.0

-- shape: vcs_credential
-- connection_id text null, organization_id text null, provider text, http_url text null, api_url text null,
-- key text null, pool_id text null, token_id text null, generation bigint null, user_name text null,
-- token_sealed bytea null, ssh_key_sealed bytea null, host_keys text, expires_in bigint, identifier text null,
-- installation_id text null

-- fragment: vcs_connection_credential()
c.id as connection_id, c.organization_id, c.provider, c.http_url, c.api_url, c.key, c.pool_id,
    t.id as token_id, t.generation, t.user_name, t.token_sealed, t.ssh_key_sealed,
    coalesce(t.host_keys, '') as host_keys,
    coalesce(extract(epoch from t.expires_at - now())::bigint, -1) as expires_in;

-- fragment: vcs_installation_credential()
-- Of an installation of the site's GitHub App, with the URLs of the App and of its API.
null as connection_id, i.organization_id, 'github_app' as provider, :app_url::text as http_url,
    :app_api_url::text as api_url, null as key, i.pool_id, i.id as token_id, i.generation,
    null as user_name, i.token_sealed, null::bytea as ssh_key_sealed, '' as host_keys,
    coalesce(extract(epoch from i.token_expires_at - now())::bigint, -1) as expires_in;

-- statement: vcs_credential_of_repository
-- The credential of the repository's connection or installation. expires_in: in seconds; -1: never.
-- index: vcs_tokens_connection_id_key
-- takes: repository_id text, app_url text, app_api_url text
-- gives: vcs_credential
select :vcs_connection_credential(), r.identifier, null as installation_id
from vcs_repositories r
join vcs_connections c
left join vcs_tokens t on t.connection_id = c.id on c.id = r.connection_id
where r.id = :repository_id
union all
select :vcs_installation_credential(), r.identifier, i.id
from vcs_repositories r
join vcs_installations i on i.id = r.installation_id
where r.id = :repository_id and i.removed_at is null;

-- statement: vcs_credential_of_installation
-- The same for an installation.
-- index: vcs_installations_pkey
-- takes: installation_id text, app_url text, app_api_url text
-- gives: vcs_credential
select :vcs_installation_credential(), null as identifier, i.id as installation_id
from vcs_installations i
where i.id = :installation_id and i.removed_at is null;

-- statement: vcs_credential_of_connection
-- The same for a connection, without a repository.
-- index: vcs_tokens_connection_id_key
-- takes: connection_id text
-- gives: vcs_credential
select :vcs_connection_credential(), null as identifier, null as installation_id
from vcs_connections c
left join vcs_tokens t on t.connection_id = c.id
where c.id = :connection_id;

-- statement: vcs_credential_of_removal
-- The credential that is kept until the hooks of a deleted connection are deleted.
-- index: vcs_hook_removals_pkey
-- takes: removal_id text
-- gives: vcs_credential
select m.connection as connection_id, m.organization_id, m.provider, m.api_url as http_url, m.api_url,
    null as key, m.pool_id, m.token_id, null::bigint as generation, null as user_name, m.token_sealed,
    null::bytea as ssh_key_sealed, '' as host_keys, -1::bigint as expires_in, m.identifier,
    null as installation_id
from vcs_hook_removals m
where m.id = :removal_id;
