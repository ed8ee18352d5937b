-- SPDX-License-Identifier: MPL-2.0
-- Providers of an organization's registry: private ones, and pointers to those of the public registry.
create table registry_providers (
	id text primary key, -- prov-
	organization_id text not null references organizations on delete cascade,
	registry_name text not null constraint registry_providers_registry_name
		check (registry_name in ('private', 'public')),
	namespace text not null, -- of a public one; '' for a private one: it is the organization's name
	name text not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	constraint registry_providers_namespace check ((registry_name = 'private') = (namespace = ''))
);
create unique index registry_providers_address on registry_providers
	(organization_id, registry_name, lower(namespace), lower(name));

-- Public OpenPGP keys, by which an organization's private providers are signed.
create table registry_gpg_keys (
	id text primary key, -- gpg-
	organization_id text not null references organizations on delete cascade,
	key_id text not null, -- 16 hexadecimal digits of the primary key
	fingerprint text not null,
	ascii_armor text not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index registry_gpg_keys_key on registry_gpg_keys (organization_id, key_id);

-- Versions of private providers. The content is {"shasums", "signature"}, each in base64. Once the signature is verified,
-- gpg_key_id names its key, and checksums has the SHA-256 of each file that SHA256SUMS lists. Both stay.
create table registry_provider_versions (
	id text primary key, -- provver-
	provider_id text not null references registry_providers on delete cascade,
	version text not null,
	key_id text not null, -- as its publisher named it
	protocols jsonb not null,
	blob_id text references blobs,
	has_shasums boolean not null default false,
	has_signature boolean not null default false,
	gpg_key_id text references registry_gpg_keys deferrable initially deferred,
	checksums jsonb,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	constraint registry_provider_versions_content check ((has_shasums or has_signature) = (blob_id is not null)),
	constraint registry_provider_versions_verified check
		((gpg_key_id is null) = (checksums is null) and (gpg_key_id is null or (has_shasums and has_signature)))
);
create unique index registry_provider_versions_version on registry_provider_versions (provider_id, version);
create index registry_provider_versions_key on registry_provider_versions (gpg_key_id) where gpg_key_id is not null;
create index registry_provider_versions_blob on registry_provider_versions (blob_id) where blob_id is not null;
create trigger registry_provider_versions_blob_changed after update of blob_id on registry_provider_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function blob_dereferenced();
create trigger registry_provider_versions_deleted after delete on registry_provider_versions for each row
	when (old.blob_id is not null) execute function blob_dereferenced();

-- The archive of a version for one platform. It has the checksum of `shasum`, and is never replaced.
create table registry_provider_platforms (
	id text primary key, -- provpltfrm-
	version_id text not null references registry_provider_versions on delete cascade,
	os text not null,
	arch text not null,
	filename text not null,
	shasum text not null,
	blob_id text references blobs,
	size bigint,
	created_at timestamptz not null default now(),
	constraint registry_provider_platforms_size check ((size is null) = (blob_id is null))
);
create unique index registry_provider_platforms_platform on registry_provider_platforms (version_id, os, arch);
create index registry_provider_platforms_blob on registry_provider_platforms (blob_id) where blob_id is not null;
create trigger registry_provider_platforms_blob_changed after update of blob_id on registry_provider_platforms
	for each row when (old.blob_id is not null and old.blob_id is distinct from new.blob_id)
	execute function blob_dereferenced();
create trigger registry_provider_platforms_deleted after delete on registry_provider_platforms for each row
	when (old.blob_id is not null) execute function blob_dereferenced();
