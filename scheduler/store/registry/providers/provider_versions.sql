-- SPDX-License-Identifier: MPL-2.0

-- shape: provider_version
-- total bigint optional, id text, provider_id text, organization_id text, version text, key_id text,
-- protocols jsonb, blob_id text null, has_shasums boolean, has_signature boolean, gpg_key_id text null,
-- checksums jsonb null, platforms jsonb, created_at timestamptz, updated_at timestamptz

-- fragment: provider_version_select()
-- `platforms`: [{id, os, arch, usable}], by name.
select v.id, v.provider_id, m.organization_id, v.version, v.key_id, v.protocols, v.blob_id, v.has_shasums,
    v.has_signature, v.gpg_key_id, v.checksums, p.platforms, v.created_at, v.updated_at
from registry_provider_versions v
join registry_providers m on m.id = v.provider_id
cross join lateral (
    select coalesce(jsonb_agg(
                jsonb_build_object('id', p.id, 'os', p.os, 'arch', p.arch, 'usable',
                    coalesce(:provider_platform_usable(v, p), false))
                order by p.os, p.arch), '[]') as platforms
    from registry_provider_platforms p
    where p.version_id = v.id
) p;

-- statement: provider_version_create
-- Adds a version without content. No row: the provider has :max of them.
-- index: registry_provider_versions_version
-- takes: id text, provider_id text, version text, key_id text, protocols jsonb, max bigint
-- gives: id text
insert into registry_provider_versions (id, provider_id, version, key_id, protocols)
select :id, :provider_id, :version, :key_id, :protocols
where (select count(*) from registry_provider_versions where provider_id = :provider_id) < :max::bigint
returning id;

-- statement: provider_version_read
-- The version of that id.
-- index: registry_provider_platforms_platform, registry_provider_versions_pkey, registry_providers_pkey
-- takes: id text
-- gives: provider_version
:provider_version_select() where v.id = :id;

-- statement: provider_versions_read
-- The versions of these ids.
-- index: registry_provider_platforms_platform, registry_provider_versions_pkey, registry_providers_pkey
-- takes: ids text[]
-- gives: provider_version
:provider_version_select() where v.id = any(:ids::text[]);

-- statement: provider_version_find
-- A version of the provider.
-- index: registry_provider_platforms_platform, registry_provider_versions_version, registry_providers_pkey
-- takes: provider_id text, version text
-- gives: provider_version
:provider_version_select() where v.provider_id = :provider_id and v.version = :version;

-- statement: provider_versions_list
-- One page of the provider's versions, the newest first, with the total in each row; one row with a null id if the
-- page is empty.
-- index: registry_provider_platforms_platform, registry_provider_versions_version, registry_providers_pkey
-- takes: provider_id text, limit bigint, offset bigint
-- gives: provider_version
select c.total, f.*
from (select count(*) as total from registry_provider_versions where provider_id = :provider_id) c
left join (
    :provider_version_select()
    where v.provider_id = :provider_id
    order by :explorer_version(v.version) desc, v.version
    limit :limit offset :offset
) f on true
order by :explorer_version(f.version) desc, f.version;

-- statement: provider_version_set_content
-- Replaces the content that the caller has read (:old). :key and :checksums are null unless the signature is
-- verified: the key must still be there. No row: another request was faster.
-- index: registry_gpg_keys_pkey, registry_provider_versions_pkey, registry_providers_pkey
-- takes: id text, old text null, blob_id text, has_shasums boolean, has_signature boolean, key text null,
-- checksums jsonb null
-- gives: provider_id text
with key as (select id from registry_gpg_keys where id = :key for key share),
version as (
    update registry_provider_versions
    set blob_id = :blob_id, has_shasums = :has_shasums, has_signature = :has_signature,
        gpg_key_id = (select id from key), checksums = :checksums, updated_at = now()
    where id = :id and blob_id is not distinct from :old and gpg_key_id is null
        and (:key::text is null or exists (select 1 from key))
    returning provider_id
)
update registry_providers
set updated_at = now()
where id = (select provider_id from version)
returning id as provider_id;

-- statement: provider_version_delete
-- Deletes the version, with its platforms.
-- index: registry_provider_versions_pkey
-- takes: id text
delete from registry_provider_versions where id = :id;
