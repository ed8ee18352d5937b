-- SPDX-License-Identifier: MPL-2.0

-- fragment: token_kind(team_kind)
-- The kind of limit of a team's token.
case :team_kind when 'organization' then 'organization' when 'audit' then 'audit_trails' else 'team' end;

-- fragment: token_ttl_kinds()
-- The kinds of limits, in their order.
unnest(array['organization', 'team', 'user', 'audit_trails'])
with ordinality as a(token_type, place);

-- shape: token_ttl
-- total bigint, id text, token_type text, max_ttl_ms bigint, created_at timestamptz, updated_at timestamptz

-- statement: token_ttls_read
-- The organization's limits; `usual_ms` for a kind that has none.
-- index: organizations_pkey, token_ttl_policies_pkey
-- takes: organization_id text, usual_ms bigint, limit bigint, offset bigint
-- gives: token_ttl
select count(*) over () as total, 'ottl-' || substr(md5(o.id || a.token_type), 1, 16) as id, a.token_type,
    coalesce(p.max_ttl_ms, :usual_ms::bigint) as max_ttl_ms, coalesce(p.created_at, o.created_at) as created_at,
    coalesce(p.updated_at, o.created_at) as updated_at
from organizations o
cross join :token_ttl_kinds()
left join token_ttl_policies p on p.organization_id = o.id and p.token_type = a.token_type
where o.id = :organization_id
order by a.place
limit :limit
offset :offset;

-- statement: token_ttls_update
-- Sets limits.
-- takes: organization_id text, policies jsonb
insert into token_ttl_policies as p (organization_id, token_type, max_ttl_ms)
select :organization_id, g."token-type", g."max-ttl-ms"
from jsonb_to_recordset(:policies::jsonb) as g("token-type" text, "max-ttl-ms" bigint)
on conflict (organization_id, token_type) do update set max_ttl_ms = excluded.max_ttl_ms, updated_at = now()
where p.max_ttl_ms <> excluded.max_ttl_ms;

-- statement: token_ttls_ensure
-- Stores the usual limit of the kinds that have none.
-- takes: organization_id text, usual_ms bigint
insert into token_ttl_policies (organization_id, token_type, max_ttl_ms)
select :organization_id, a.token_type, :usual_ms::bigint
from :token_ttl_kinds()
on conflict (organization_id, token_type) do nothing;

-- statement: token_limit_read
-- The latest expiry of a new token of the team, or of the person in all of their organizations. `exceeded`: the
-- wanted one is later. A minute is left for the client's clock.
-- index: organization_memberships_user, organizations_limiting, teams_id_organization_id_key,
-- token_ttl_policies_pkey
-- takes: team_id text, user_id text, expires_at timestamptz
-- gives: exceeded boolean, until timestamptz null
with owner as (
    select organization_id, :token_kind(kind) as token_type
    from teams
    where id = :team_id
    union all
    select organization_id, 'user'
    from organization_memberships
    where user_id = :user_id and status = 'active' and :team_id::text is null
),
x as (
    select now() + min(p.max_ttl_ms) * interval '1 millisecond' as until
    from owner w
    join organizations o on o.id = w.organization_id and o.settings ->> 'max-ttl-enabled' = 'true'
    join token_ttl_policies p on p.organization_id = w.organization_id and p.token_type = w.token_type
)
select coalesce(:expires_at::timestamptz > x.until + interval '1 minute', x.until is not null) as exceeded, x.until
from x;

-- statement: tokens_unused_delete
-- Deletes some of the tokens that were unused for longer than the site or the organization permits.
-- index: organizations_pkey, teams_id_organization_id_key, tokens_pkey, tokens_unused
-- reads: organizations, site_settings
-- takes: most bigint
-- gives: id text, organization_id text null
with site as (select nullif((settings ->> 'unused-token-days')::integer, 0) as days from site_settings),
shortest as (
    select least(s.days, (select min(nullif((settings ->> 'unused-token-days')::integer, 0)) from organizations))
        as days
    from site s
),
due as (
    select k.id, t.organization_id
    from tokens k
    left join teams t on t.id = k.team_id
    left join organizations o on o.id = t.organization_id
    cross join site s
    cross join shortest x
    where k.pool_id is null and not k.notifier
        and coalesce(k.last_used_at, k.created_at) < now() - make_interval(days => x.days)
        and coalesce(k.last_used_at, k.created_at) <
        now() - make_interval(days => least(s.days, nullif((o.settings ->> 'unused-token-days')::integer, 0)))
    order by coalesce(k.last_used_at, k.created_at)
    limit :most
    for update of k skip locked
)
delete from tokens k
using due d
where k.id = d.id
returning k.id, d.organization_id;
