-- SPDX-License-Identifier: MPL-2.0

-- fragment: vcs_connection_columns(user)
-- projects: the ids of those that the user may see.
c.id, c.organization_id, c.provider, c.name, c.http_url, c.api_url, c.key, c.rsa_public_key,
    c.organization_scoped, c.pool_id, c.fork_pool_id, c.callback_id, c.created_at,
    o.name as organization_name, t.id as token_id, l.error as call_error, case
    when l.blocked_until > now() then l.blocked_until end as blocked_until,
    (
        select coalesce(jsonb_agg(m.project_id order by m.project_id), '[]')
        from vcs_connection_projects m
        where m.connection_id = c.id
            and :project_in_scope(
                ((:rights_in_organization(:user, c.organization_id)) & 1048576 <> 0), :user, m.project_id)
    ) as projects;

-- fragment: vcs_connection_tables()
from vcs_connections c
join organizations o on o.id = c.organization_id
left join vcs_tokens t on t.connection_id = c.id
left join vcs_limits l on l.owner_id = c.id;

-- fragment: vcs_dialect_columns()
-- The arguments of vcs_dialect_named. `c` is the repository's connection; it has none if the site's GitHub App
-- is used.
coalesce(c.provider, 'github_app') as provider, c.api_url;

-- shape: vcs_connection
-- total bigint optional, id text, organization_id text, provider text, name text null, http_url text,
-- api_url text, key text null, rsa_public_key text null, organization_scoped boolean, pool_id text null,
-- fork_pool_id text null, callback_id text, created_at timestamptz, organization_name text, token_id text null,
-- call_error text null, blocked_until timestamptz null, projects jsonb

-- statement: vcs_connections_list
-- A page of the organization's connections, the oldest first.
-- index: team_members_user, team_projects_team, team_workspaces_team, teams_organization,
-- vcs_connections_organization, vcs_tokens_connection_id_key
-- takes: organization_id text, limit bigint, offset bigint, user text
-- gives: vcs_connection
select n.total, c.*
from (select count(*) as total from vcs_connections where organization_id = :organization_id) n
left join (
    select :vcs_connection_columns(:user) :vcs_connection_tables()
    where c.organization_id = :organization_id
    order by c.created_at, c.id
    limit :limit
    offset :offset
) c on true
order by c.created_at, c.id;

-- statement: vcs_connection_read
-- A connection by its id.
-- index: team_members_user, team_projects_team, team_workspaces_team, teams_organization,
-- vcs_tokens_connection_id_key
-- takes: id text, user text
-- gives: vcs_connection
select :vcs_connection_columns(:user) :vcs_connection_tables() where c.id = :id;

-- statement: vcs_connections_read_all
-- Connections by their ids.
-- index: team_members_user, team_projects_team, team_workspaces_team, teams_organization,
-- vcs_tokens_connection_id_key
-- takes: ids text[], user text
-- gives: vcs_connection
select :vcs_connection_columns(:user) :vcs_connection_tables()
where c.id = any(:ids::text[])
order by c.created_at, c.id;

-- statement: vcs_connection_insert
-- Empty bytes are null.
-- takes: id text, organization_id text, provider text, name text, http_url text, api_url text, key text,
-- secret_sealed bytea, rsa_public_key text, private_key_sealed bytea, organization_scoped boolean,
-- pool_id text, fork_pool_id text
insert into vcs_connections (
    id, organization_id, provider, name, http_url, api_url, key, secret_sealed, rsa_public_key,
        private_key_sealed, organization_scoped, pool_id, fork_pool_id, callback_id)
values (:id, :organization_id, :provider, :name, :http_url, :api_url, :key, nullif(:secret_sealed::bytea, ''),
        :rsa_public_key, nullif(:private_key_sealed::bytea, ''), :organization_scoped, :pool_id, :fork_pool_id,
        gen_random_uuid());

-- statement: vcs_connection_update
-- Texts that are null and bytes that are empty stay as they are.
-- index: vcs_connections_pkey
-- takes: id text, name text, key text, secret_sealed bytea, rsa_public_key text, private_key_sealed bytea,
-- organization_scoped boolean, pool_id text, fork_pool_id text
update vcs_connections
set name = coalesce(:name, name), key = coalesce(:key, key),
    secret_sealed = coalesce(nullif(:secret_sealed::bytea, ''), secret_sealed),
    rsa_public_key = coalesce(:rsa_public_key, rsa_public_key),
    private_key_sealed = coalesce(nullif(:private_key_sealed::bytea, ''), private_key_sealed),
    organization_scoped = :organization_scoped, pool_id = :pool_id, fork_pool_id = :fork_pool_id
where id = :id;

-- statement: vcs_connection_delete
-- Deletes the connection, and all rows that refer to it.
-- index: vcs_connections_pkey
-- takes: id text
delete from vcs_connections where id = :id;

-- statement: vcs_connection_add_projects
-- Adds projects of the connection's organization. found: how many there are.
-- index: projects_name
-- takes: id text, ids text[]
-- gives: found bigint
with may as (
    select j.id
    from vcs_connections c
    join projects j on j.organization_id = c.organization_id
    where c.id = :id and j.id = any(:ids::text[])
),
done as (
    insert into vcs_connection_projects (connection_id, project_id)
    select :id, id
    from may
    on conflict do nothing
)
select count(*) as found
from may;

-- statement: vcs_connection_remove_projects
-- Projects that the connection does not have are ignored.
-- index: vcs_connection_projects_pkey
-- takes: id text, ids text[]
delete from vcs_connection_projects where connection_id = :id and project_id = any(:ids::text[]);

-- statement: vcs_connection_use_check
-- Whether the connection may be used in the project; null: in the whole organization. Prevents its deletion
-- until the transaction ends.
-- index: vcs_connections_pkey
-- takes: id text, project_id text
-- gives: may boolean
select c.organization_scoped
    or exists (
        select 1
        from vcs_connection_projects m
        where m.connection_id = c.id and m.project_id = :project_id
    ) as may
from vcs_connections c
where c.id = :id
for key share of c;
