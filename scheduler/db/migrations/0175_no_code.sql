-- SPDX-License-Identifier: MPL-2.0
-- Modules from which people make workspaces without a configuration of their own.
create table no_code_modules (
	id text primary key, -- nocode-
	organization_id text not null references organizations on delete cascade,
	module_id text not null references registry_modules on delete cascade,
	version_pin text, -- null: the newest version
	enabled boolean not null,
	options jsonb not null, -- [{id, variable-name, variable-type, options}]: the values that a variable may have
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index no_code_modules_module on no_code_modules (module_id);
create index no_code_modules_organization on no_code_modules (organization_id);

-- Workspaces that were made so. Their configuration calls one version of the module.
create table no_code_workspaces (
	workspace_id text primary key references workspaces on delete cascade,
	no_code_module_id text references no_code_modules on delete set null, -- null: it was deleted
	module text not null, -- private/ORGANIZATION/NAME/PROVIDER
	version text not null
);
create index no_code_workspaces_module on no_code_workspaces (no_code_module_id);
