-- SPDX-License-Identifier: MPL-2.0

-- fragment: installation_columns()
i.id, i.installation_id, i.organization_id, i.name, i.kind, i.icon_url, i.web_url, i.error, i.created_at,
    i.pool_id, i.fork_pool_id, o.name as organization_name, l.error as call_error, case
    when l.blocked_until > now() then l.blocked_until end as blocked_until;

-- fragment: installation_tables()
from vcs_installations i
join organizations o on o.id = i.organization_id
left join vcs_limits l on l.owner_id = i.id;

-- shape: vcs_installation
-- total bigint optional, id text, installation_id bigint, organization_id text null, name text, kind text,
-- icon_url text null, web_url text null, error text null, created_at timestamptz, pool_id text null,
-- fork_pool_id text null, organization_name text, call_error text null, blocked_until timestamptz null

-- statement: installations_list
-- A page of the connected installations of these organizations (null: of all), by name. Number 0: any.
-- index: vcs_installations_organization
-- takes: organizations text[] null, name text, number bigint, limit bigint, offset bigint
-- gives: vcs_installation
with found as (
    select i.id, lower(i.name) as name
    from vcs_installations i
    where i.removed_at is null and i.organization_id is not null
        and (:name::text is null or lower(i.name) = lower(:name))
        and (:number::bigint = 0 or i.installation_id = :number)
        and (:organizations::text[] is null or i.organization_id = any(:organizations))
)
select n.total, f.*
from (select count(*) as total from found) n
left join (
    select :installation_columns() :installation_tables()
    where i.id in (select id from found order by name, id limit :limit offset :offset)
) f on true
order by lower(f.name), f.id;

-- statement: installation_read
-- An installation that was not removed.
-- index: organizations_pkey, vcs_installations_pkey, vcs_limits_pkey
-- takes: id text
-- gives: vcs_installation
select :installation_columns() :installation_tables() where i.id = :id and i.removed_at is null;

-- statement: installation_connect
-- No row if another organization has the installation.
-- takes: new_id text, number bigint, organization_id text, account text, kind text, icon_url text, web_url text
-- gives: id text
insert into vcs_installations as i(id, installation_id, organization_id, name, kind, icon_url, web_url)
values (:new_id, :number, :organization_id, :account, :kind, :icon_url, :web_url)
on conflict (installation_id) do update set organization_id = excluded.organization_id,
    name = excluded.name, kind = excluded.kind, icon_url = excluded.icon_url, web_url = excluded.web_url,
    removed_at = null
where i.organization_id is null or i.organization_id = excluded.organization_id
returning i.id;

-- statement: installation_pools_set
-- Sets the agent pools of the installation.
-- index: vcs_installations_pkey
-- takes: id text, pool_id text, fork_pool_id text
update vcs_installations set pool_id = :pool_id, fork_pool_id = :fork_pool_id where id = :id;

-- statement: installation_token_put
-- Stores the token, which expires after :expires_in seconds. Looks that failed without a token are repeated.
-- `was` takes no lock, because PostgreSQL may read it after the update below, and would not lock the row then.
-- index: vcs_repositories_owner
-- takes: id text, token_sealed bytea, expires_in bigint
with was as (
    select id, error, token_sealed is null as is_first from vcs_installations where id = :id
),
again as (
    update vcs_repositories r
    set state = 'unverified', error = null, look_failures = 0, look_due = now()
    from was
    where r.installation_id = was.id
        and (r.state = 'errored' and r.error = was.error or was.is_first and r.look_failures > 0)
)
update vcs_installations
set token_sealed = :token_sealed, token_expires_at = now() + make_interval(secs => :expires_in::bigint),
    error = null, generation = nextval('token_generations')
where id = :id;

-- statement: installation_fail
-- Records that the installation and its repositories can't be used, and inserts an event with the reason. An
-- installation that fails again for the same reason makes no further event.
-- index: vcs_repositories_owner
-- takes: id text, why text, removed boolean, new_id text
with was as (select id, organization_id, error from vcs_installations where id = :id),
gone as (
    update vcs_installations
    set token_sealed = null, token_expires_at = null, error = :why, removed_at = case
        when :removed then coalesce(removed_at, now()) end
    where id = :id
),
repositories as (
    update vcs_repositories
    set state = 'errored', error = :why
    where installation_id = :id and state <> 'errored'
)
insert into vcs_events (id, organization_id, found_by, kind, state, level, message, done_at)
select :new_id, organization_id, 'request', 'install', 'done', 'error', :why, now()
from was
where organization_id is not null and error is distinct from :why;

-- statement: installation_find
-- A connected installation, by GitHub's number.
-- index: vcs_installations_installation_id_key
-- takes: number bigint
-- gives: id text
select id
from vcs_installations
where installation_id = :number and organization_id is not null and removed_at is null;

-- statement: app_deliveries_find
-- The repositories of deliveries, by GitHub's number or by name. n: the place of the delivery, from 0 on.
-- index: vcs_installations_installation_id_key, vcs_repositories_owner
-- takes: installations bigint[], numbers text[], identifiers text[]
-- gives: n bigint, id text
select u.n - 1 as n, r.id
from unnest(:installations::bigint[], :numbers::text[], :identifiers::text[])
with ordinality u(installation, external_id, identifier, n),
lateral (
    select v.id
    from vcs_installations i
    join vcs_repositories v on v.installation_id = i.id and v.organization_id = i.organization_id
    where i.installation_id = u.installation and i.removed_at is null
        and (v.external_id = u.external_id or lower(v.identifier) = lower(u.identifier))
    limit 10
) r;
