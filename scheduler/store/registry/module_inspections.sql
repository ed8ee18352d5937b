-- SPDX-License-Identifier: MPL-2.0

-- statement: module_inspection_reset
-- Forgets the description of content that was replaced.
-- index: registry_module_inspections_pkey, registry_module_versions_pkey
-- takes: version_id text
with gone as (delete from registry_module_inspections where version_id = :version_id)
update registry_module_versions set inspected = false where id = :version_id and inspected;

-- statement: module_inspection_content
-- The archive of a version.
-- index: registry_module_versions_pkey
-- takes: version_id text
-- gives: blob_id text null
select blob_id from registry_module_versions where id = :version_id and blob_id is not null;

-- statement: module_inspection_store
-- Stores the description of a version that has not been deleted.
-- index: registry_module_versions_pkey
-- takes: version_id text, blob_id text
insert into registry_module_inspections (version_id, blob_id)
select id, :blob_id
from registry_module_versions
where id = :version_id
on conflict (version_id) do update set blob_id = excluded.blob_id, created_at = now();

-- statement: module_inspection_end
-- Notes that the inspection of a version has ended, and the defect of its content; null: it has none.
-- index: registry_module_versions_pkey
-- takes: version_id text, sentence text
update registry_module_versions
set inspected = true, error = :sentence, updated_at = now()
where id = :version_id and blob_id is not null;

-- statement: module_inspection_read
-- The description of a version.
-- index: registry_module_inspections_pkey
-- takes: version_id text
-- gives: blob_id text
select blob_id from registry_module_inspections where version_id = :version_id;

-- statement: module_inspections_missing
-- Versions, at most :max, whose content was not inspected, and which have no job for it.
-- index: git_jobs_module, registry_module_versions_uninspected
-- takes: max bigint
-- gives: id text
select v.id
from registry_module_versions v
where v.blob_id is not null and not v.inspected
    and not exists (select 1 from git_jobs g where g.module_version_id = v.id)
order by v.id
limit :max;
