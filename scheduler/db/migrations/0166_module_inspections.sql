-- SPDX-License-Identifier: MPL-2.0
-- What the archives of module versions contain, as a worker has read it in its sandbox.
create table registry_module_inspections (
	version_id text primary key references registry_module_versions on delete cascade,
	blob_id text not null references blobs, -- the description as JSON (common/terraform/module_description.h)
	created_at timestamptz not null default now()
);
create index registry_module_inspections_blob on registry_module_inspections (blob_id);
create trigger registry_module_inspections_blob_changed after update of blob_id on registry_module_inspections for each row
	when (old.blob_id is distinct from new.blob_id) execute function blob_dereferenced();
create trigger registry_module_inspections_deleted after delete on registry_module_inspections for each row
	execute function blob_dereferenced();

-- Whether the inspection of the content has ended, with a description or without one.
alter table registry_module_versions add column inspected boolean not null default false;
create index registry_module_versions_uninspected on registry_module_versions (id) where status = 'ok' and not inspected;

-- The jobs of inspections. They belong to a version, which may have no repository.
alter table git_jobs add column module_version_id text references registry_module_versions on delete cascade;
alter table git_jobs alter column repository_id drop not null;
alter table git_jobs drop constraint git_jobs_kind;
alter table git_jobs add constraint git_jobs_kind check (kind in ('look', 'diff', 'fetch', 'module'));
create unique index git_jobs_module on git_jobs (module_version_id) where module_version_id is not null;
