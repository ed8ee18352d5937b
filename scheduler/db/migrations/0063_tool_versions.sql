-- SPDX-License-Identifier: MPL-2.0
-- The versions of engines and policy programs that site admins list. One that is not listed may be used, too.

create table tool_versions (
	id text primary key,
	tool text not null check (tool in ('terraform', 'opa', 'sentinel')),
	version text not null,
	archs jsonb not null, -- [{"os", "arch", "url", "sha"}, ...]
	official boolean not null default false,
	enabled boolean not null default true,
	beta boolean not null default false,
	deprecated boolean not null default false,
	deprecated_reason text,
	created_at timestamptz not null default now()
);
create unique index tool_versions_version on tool_versions (tool, version);

-- How many use a version.
create index workspaces_terraform_version on workspaces (terraform_version) where terraform_version <> '';
