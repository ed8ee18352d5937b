-- SPDX-License-Identifier: MPL-2.0

-- shape: provider_platform
-- total bigint optional, id text, version_id text, organization_id text, os text, arch text, filename text,
-- shasum text, blob_id text null, size bigint null, usable boolean, expected text null, created_at timestamptz

-- fragment: provider_platform_select()
-- `expected`: the checksum of the file in the version's SHA256SUMS, if its signature is verified.
select p.id, p.version_id, m.organization_id, p.os, p.arch, p.filename, p.shasum, p.blob_id, p.size,
    coalesce(:provider_platform_usable(v, p), false) as usable, v.checksums ->> p.filename as expected, p.created_at
from registry_provider_platforms p
join registry_provider_versions v on v.id = p.version_id
join registry_providers m on m.id = v.provider_id;

-- statement: provider_platform_create
-- Adds a platform without its archive. No row: the version has :max of them.
-- index: registry_provider_platforms_platform
-- takes: id text, version_id text, os text, arch text, filename text, shasum text, max bigint
-- gives: id text
insert into registry_provider_platforms (id, version_id, os, arch, filename, shasum)
select :id, :version_id, :os, :arch, :filename, :shasum
where (select count(*) from registry_provider_platforms where version_id = :version_id) < :max::bigint
returning id;

-- statement: provider_platform_read
-- The platform of that id.
-- index: registry_provider_platforms_pkey, registry_provider_versions_pkey, registry_providers_pkey
-- takes: id text
-- gives: provider_platform
:provider_platform_select() where p.id = :id;

-- statement: provider_platform_find
-- A platform of the version.
-- index: registry_provider_platforms_platform, registry_provider_versions_pkey, registry_providers_pkey
-- takes: version_id text, os text, arch text
-- gives: provider_platform
:provider_platform_select() where p.version_id = :version_id and p.os = :os and p.arch = :arch;

-- statement: provider_platforms_list
-- One page of the version's platforms, by name, with the total in each row; one row with a null id if the page is
-- empty.
-- index: registry_provider_platforms_platform, registry_provider_versions_pkey, registry_providers_pkey
-- takes: version_id text, limit bigint, offset bigint
-- gives: provider_platform
select c.total, f.*
from (select count(*) as total from registry_provider_platforms where version_id = :version_id) c
left join (
    :provider_platform_select()
    where p.version_id = :version_id
    order by p.os, p.arch
    limit :limit offset :offset
) f on true
order by f.os, f.arch;

-- statement: provider_platform_set_content
-- Gives the platform its archive. No row: it has one.
-- index: registry_provider_platforms_pkey
-- takes: id text, blob_id text, size bigint
-- gives: id text
update registry_provider_platforms
set blob_id = :blob_id, size = :size
where id = :id and blob_id is null
returning id;

-- statement: provider_platform_delete
-- Deletes the platform.
-- index: registry_provider_platforms_pkey
-- takes: id text
delete from registry_provider_platforms where id = :id;
