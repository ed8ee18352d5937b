-- SPDX-License-Identifier: MPL-2.0
-- Configurations of providers that runs of no-code workspaces get.
create table provider_sets (
	id text primary key, -- provset-
	organization_id text not null references organizations on delete cascade,
	name text not null,
	description text not null,
	provider_source text not null, -- [HOST/]NAMESPACE/TYPE
	configuration_hcl text not null, -- one block `provider`, which only workers parse
	global boolean not null, -- applies to all workspaces, and has no rows in the tables below
	priority boolean not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index provider_sets_name on provider_sets (organization_id, lower(name));

create table provider_set_projects (
	provider_set_id text not null references provider_sets on delete cascade,
	project_id text not null references projects on delete cascade,
	primary key (provider_set_id, project_id)
);
create index provider_set_projects_project on provider_set_projects (project_id);

create table provider_set_workspaces (
	provider_set_id text not null references provider_sets on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	primary key (provider_set_id, workspace_id)
);
create index provider_set_workspaces_workspace on provider_set_workspaces (workspace_id);
