-- SPDX-License-Identifier: MPL-2.0

-- shape: registry_provider
-- total bigint optional, id text, organization_id text, organization_name text, registry_name text, namespace text,
-- name text, version_ids jsonb, latest text null, created_at timestamptz, updated_at timestamptz

-- fragment: provider_platform_usable(v, p)
-- Whether engines may have the archive of the platform `p` of the version `v`.
:v.gpg_key_id is not null and :p.blob_id is not null and :v.checksums ->> :p.filename = :p.shasum;

-- fragment: registry_provider_select()
-- Providers `m` of organizations `o`. `latest`: the newest version that engines find.
select m.id, m.organization_id, o.name as organization_name, m.registry_name,
    case m.registry_name when 'private' then o.name else m.namespace end as namespace, m.name,
    v.ids as version_ids, v.latest, m.created_at, m.updated_at
from registry_providers m
join organizations o on o.id = m.organization_id
cross join lateral (
    select coalesce(jsonb_agg(x.id order by :explorer_version(x.version) desc, x.version), '[]') as ids,
        (array_agg(x.version order by strpos(x.version, '-') > 0, :explorer_version(x.version) desc)
            filter (where exists (
                    select 1
                    from registry_provider_platforms p
                    where p.version_id = x.id and :provider_platform_usable(x, p)
                )))[1] as latest
    from registry_provider_versions x
    where x.provider_id = m.id
) v;

-- statement: registry_provider_create
-- Adds a provider. No row: the organization has :max of them.
-- index: registry_providers_address
-- takes: id text, organization_id text, registry_name text, namespace text, name text, max bigint
-- gives: id text
insert into registry_providers (id, organization_id, registry_name, namespace, name)
select :id, :organization_id, :registry_name, :namespace, :name
where (select count(*) from registry_providers where organization_id = :organization_id) < :max::bigint
returning id;

-- statement: registry_provider_read
-- The provider of that id.
-- index: organizations_pkey, registry_provider_platforms_platform, registry_provider_versions_version,
-- registry_providers_pkey
-- takes: id text
-- gives: registry_provider
:registry_provider_select() where m.id = :id;

-- statement: registry_provider_find
-- The organization's provider by its address. The namespace of a private one is the organization's name.
-- index: organizations_pkey, registry_provider_platforms_platform, registry_provider_versions_version,
-- registry_providers_address
-- takes: organization_id text, registry_name text, namespace text, name text
-- gives: registry_provider
:registry_provider_select()
where m.organization_id = :organization_id and m.registry_name = :registry_name and lower(m.name) = lower(:name)
    and lower(m.namespace) = case when :registry_name = 'public' then lower(:namespace) else '' end
    and (:registry_name = 'public' or lower(o.name) = lower(:namespace));

-- statement: registry_providers_list
-- One page of the organization's providers, by name, with the total in each row; one row with a null id if the page
-- is empty. A null filter is none.
-- index: organizations_pkey, registry_provider_platforms_platform, registry_provider_versions_version,
-- registry_providers_address, registry_providers_pkey, tag_bindings_tag, tags_search
-- takes: organization_id text, search text, registry_name text, owner text, tag_keys text[] null,
-- tag_values text[] null, limit bigint, offset bigint
-- gives: registry_provider
with found as (
    select m.id, lower(m.name) as name
    from registry_providers m
    join organizations o on o.id = m.organization_id
    where m.organization_id = :organization_id and (:registry_name::text is null or m.registry_name = :registry_name)
        and (:owner::text is null or lower(o.name) = lower(:owner))
        and (:tag_keys::text[] is null or m.id in (:owners_with_tags(:bindings_of_tag(), provider_id)))
        and (:search::text is null or strpos(lower(m.name), lower(:search)) > 0
                or strpos(lower(case m.registry_name when 'private' then o.name else m.namespace end),
                    lower(:search)) > 0)
),
page as (select id, name from found order by name, id limit :limit offset :offset)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    :registry_provider_select()
    where m.id = any(array(select id from page))
) f on true
order by lower(f.name), f.id;

-- statement: registry_provider_delete
-- Deletes the provider, with its versions.
-- index: registry_providers_pkey
-- takes: id text
delete from registry_providers where id = :id;
