-- SPDX-License-Identifier: MPL-2.0

-- shape: gpg_key
-- total bigint optional, id text, organization_id text, organization_name text, key_id text, fingerprint text,
-- ascii_armor text, used boolean, created_at timestamptz, updated_at timestamptz

-- fragment: gpg_key_select()
-- Keys `k` of organizations `o`. `used`: a version is verified by it.
select k.id, k.organization_id, o.name as organization_name, k.key_id, k.fingerprint, k.ascii_armor,
    exists (select 1 from registry_provider_versions v where v.gpg_key_id = k.id) as used, k.created_at, k.updated_at
from registry_gpg_keys k
join organizations o on o.id = k.organization_id;

-- statement: gpg_key_create
-- Adds a key. No row: the organization has :max of them.
-- index: registry_gpg_keys_key
-- takes: id text, organization_id text, key_id text, fingerprint text, ascii_armor text, max bigint
-- gives: id text
insert into registry_gpg_keys (id, organization_id, key_id, fingerprint, ascii_armor)
select :id, :organization_id, :key_id, :fingerprint, :ascii_armor
where (select count(*) from registry_gpg_keys where organization_id = :organization_id) < :max::bigint
returning id;

-- statement: gpg_key_read
-- The key of that id.
-- index: organizations_pkey, registry_gpg_keys_pkey, registry_provider_versions_key
-- takes: id text
-- gives: gpg_key
:gpg_key_select() where k.id = :id;

-- statement: gpg_key_find
-- The organization's key with that key id.
-- index: organizations_pkey, registry_gpg_keys_key, registry_provider_versions_key
-- takes: organization_id text, key_id text
-- gives: gpg_key
:gpg_key_select() where k.organization_id = :organization_id and k.key_id = upper(:key_id);

-- statement: gpg_keys_list
-- One page of the organizations' keys, with the total in each row; one row with a null id if the page is empty.
-- index: organizations_pkey, registry_gpg_keys_key, registry_provider_versions_key
-- takes: organization_ids text[], limit bigint, offset bigint
-- gives: gpg_key
select c.total, f.*
from (select count(*) as total from registry_gpg_keys where organization_id = any(:organization_ids::text[])) c
left join (
    :gpg_key_select()
    where k.organization_id = any(:organization_ids::text[])
    order by k.organization_id, k.key_id
    limit :limit offset :offset
) f on true
order by f.organization_id, f.key_id;

-- statement: gpg_key_move
-- Gives a key that no version uses to another organization. No row: a version uses it.
-- index: registry_gpg_keys_pkey, registry_provider_versions_key
-- takes: id text, organization_id text
-- gives: id text
update registry_gpg_keys k
set organization_id = :organization_id, updated_at = now()
where k.id = :id and not exists (select 1 from registry_provider_versions v where v.gpg_key_id = k.id)
returning k.id;

-- statement: gpg_key_delete
-- Deletes a key that no version uses. No row: a version uses it.
-- index: registry_gpg_keys_pkey, registry_provider_versions_key
-- takes: id text
-- gives: id text
delete from registry_gpg_keys k
where k.id = :id and not exists (select 1 from registry_provider_versions v where v.gpg_key_id = k.id)
returning k.id;
