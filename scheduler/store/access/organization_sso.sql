-- SPDX-License-Identifier: MPL-2.0

-- shape: organization_sso
-- is_required boolean, domains jsonb, providers jsonb

-- statement: organization_sso_read
-- The settings; the usual ones if none were set.
-- index: organization_providers_pkey, organization_sso_pkey
-- takes: organization_id text
-- gives: organization_sso
select coalesce(q.is_required, false) as is_required,
    coalesce(to_jsonb(q.domains), '[]') as domains,
    (
        select coalesce(jsonb_agg(a.provider_id order by a.provider_id), '[]')
        from organization_providers a
        where a.organization_id = o.id
    ) as providers
from (select :organization_id::text as id) o
left join organization_sso q on q.organization_id = o.id;

-- statement: organization_sso_write
-- Changes what is not null.
-- takes: organization_id text, is_required text, domains text
insert into organization_sso (organization_id, is_required, domains)
values (:organization_id, coalesce(:is_required::text::boolean, false), coalesce(:domains::text::text[], '{}'))
on conflict (organization_id) do update
set is_required = coalesce(:is_required::text::boolean, organization_sso.is_required),
    domains = coalesce(:domains::text::text[], organization_sso.domains), updated_at = now();

-- statement: organization_providers_write
-- Replaces the providers.
-- index: organization_providers_pkey
-- takes: organization_id text, providers text[]
with gone as (
    delete from organization_providers
    where organization_id = :organization_id and not provider_id = any(:providers::text[])
)
insert into organization_providers (organization_id, provider_id)
select :organization_id, x from unnest(:providers) x
on conflict do nothing;

-- fragment: provider_is_for(organization)
-- The condition that a provider `p` is for the organization: for all, unless it lists names.
(coalesce(jsonb_array_length(p.settings -> 'allowed-organizations'), 0) = 0
    or exists (
        select 1
        from organizations g
        join jsonb_array_elements_text(p.settings -> 'allowed-organizations') n(name)
            on lower(n.name) = lower(g.name)
        where g.id = :organization
    ));

-- shape: organization_provider
-- id text, kind text, name text, domains jsonb

-- statement: organization_providers_list
-- The enabled providers that the organization may use.
-- index: organizations_pkey
-- reads: identity_providers
-- takes: organization_id text
-- gives: organization_provider
select p.id, p.kind, p.name, coalesce(p.settings -> 'domains', '[]') as domains
from identity_providers p
where p.is_enabled and :provider_is_for(:organization_id)
order by lower(p.name), p.id;

-- statement: organization_sso_fits
-- A row if the organization accepts sign-ins through the provider.
-- index: organization_providers_provider
-- takes: organization_id text, provider_id text
select 1
from organization_providers
where organization_id = :organization_id and provider_id = :provider_id;

-- statement: provider_of_domain
-- The enabled provider that lists the domain: one of an organization that names the domain, else the oldest.
-- index: organization_providers_provider, organization_sso_pkey
-- reads: identity_providers
-- takes: domain text
-- gives: id text
select p.id
from identity_providers p
where p.is_enabled and p.settings -> 'domains' ? :domain
order by exists (
    select 1
    from organization_providers a
    join organization_sso q on q.organization_id = a.organization_id and :domain = any(q.domains)
    where a.provider_id = p.id
) desc, p.created_at, p.id
limit 1;
