-- SPDX-License-Identifier: MPL-2.0
-- Variable sets, which hold variables like a workspace does, and run triggers.

create table varsets (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	project_id text references projects on delete cascade, -- its owner; null: the organization
	name text not null check (name <> ''),
	description text not null default '',
	global boolean not null default false,
	priority boolean not null default false,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	check (not (global and project_id is not null))
);
create unique index varsets_name on varsets (organization_id, coalesce(project_id, ''), lower(name));
create index varsets_project on varsets (project_id) where project_id is not null;

create table varset_workspaces (
	varset_id text not null references varsets on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	primary key (varset_id, workspace_id)
);
create index varset_workspaces_workspace on varset_workspaces (workspace_id);
create table varset_projects (
	varset_id text not null references varsets on delete cascade,
	project_id text not null references projects on delete cascade,
	primary key (varset_id, project_id)
);
create index varset_projects_project on varset_projects (project_id);

alter table variables alter column workspace_id drop not null;
alter table variables add column varset_id text references varsets on delete cascade;
alter table variables add check (num_nonnulls(workspace_id, varset_id) = 1);
create unique index variables_varset_key on variables (varset_id, category, key);

create table run_triggers (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	source_id text not null references workspaces on delete cascade,
	created_at timestamptz not null default now(),
	check (workspace_id <> source_id)
);
create unique index run_triggers_pair on run_triggers (workspace_id, source_id);
create index run_triggers_source on run_triggers (source_id);
