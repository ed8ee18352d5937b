-- SPDX-License-Identifier: MPL-2.0
-- Modules of an organization's registry.
create table registry_modules (
	id text primary key, -- mod-
	organization_id text not null references organizations on delete cascade,
	registry_name text not null constraint registry_modules_registry_name check (registry_name in ('private', 'public')),
	namespace text not null, -- of a module of the public registry; '' for a private one: it is the organization's name
	name text not null,
	provider text not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	constraint registry_modules_namespace check ((registry_name = 'private') = (namespace = ''))
);
create unique index registry_modules_address on registry_modules
	(organization_id, registry_name, lower(namespace), lower(name), provider);

-- Versions of private modules. The content is an archive, and its checksum that of the archive.
create table registry_module_versions (
	id text primary key, -- modver-
	module_id text not null references registry_modules on delete cascade,
	version text not null,
	source text not null default 'tfe-api',
	status text not null default 'pending' constraint registry_module_versions_status
		check (status in ('pending', 'reg_ingress_failed', 'ok')),
	error text,
	commit_sha text,
	blob_id text references blobs,
	sha256 text,
	size bigint,
	given_at timestamptz, -- the first download: from then on the content can't be replaced
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	constraint registry_module_versions_content check ((status = 'ok') = (blob_id is not null))
);
create unique index registry_module_versions_version on registry_module_versions (module_id, version);
create index registry_module_versions_blob on registry_module_versions (blob_id) where blob_id is not null;
create trigger registry_module_versions_blob_changed after update of blob_id on registry_module_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function blob_dereferenced();
create trigger registry_module_versions_deleted after delete on registry_module_versions for each row
	when (old.blob_id is not null) execute function blob_dereferenced();

-- Organizations whose modules all others may use.
create index organizations_sharing_modules on organizations (id) where (admin_settings ->> 'global-module-sharing')::boolean;
