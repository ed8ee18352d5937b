-- SPDX-License-Identifier: MPL-2.0
-- Projects, and policies: what applies to a run is taken at its creation.

create table projects (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	description text not null default '',
	is_default boolean not null default false,
	created_at timestamptz not null default now()
);
create unique index projects_name on projects (organization_id, lower(name));
create unique index projects_default on projects (organization_id) where is_default;
insert into projects (id, organization_id, name, is_default)
	select 'prj-' || substr(md5(id), 1, 16), id, 'Default Project', true from organizations;

alter table workspaces add column project_id text references projects;
update workspaces w set project_id = p.id from projects p where p.organization_id = w.organization_id and p.is_default;

create table policies (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	kind text not null,
	description text not null default '',
	query text,
	enforcement text not null,
	blob_id text references blobs,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index policies_name on policies (organization_id, lower(name));

create table policy_sets (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	description text not null default '',
	kind text not null,
	global boolean not null default false,
	overridable boolean not null default false,
	agent_enabled boolean not null default false,
	policy_tool_version text,
	policies_path text,
	current_version_id text,
	newest_version_id text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index policy_sets_name on policy_sets (organization_id, lower(name));

create table policy_set_policies (
	policy_set_id text not null references policy_sets on delete cascade,
	policy_id text not null references policies on delete cascade,
	primary key (policy_set_id, policy_id)
);
create table policy_set_workspaces (
	policy_set_id text not null references policy_sets on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	excluded boolean not null default false,
	primary key (policy_set_id, workspace_id)
);
create table policy_set_projects (
	policy_set_id text not null references policy_sets on delete cascade,
	project_id text not null references projects on delete cascade,
	excluded boolean not null default false,
	primary key (policy_set_id, project_id)
);

-- A set's policies as an archive: a folder with policies.hcl (OPA, HCP's form) or sentinel.hcl, or the .rego and .sentinel files alone.
create table policy_set_versions (
	id text primary key,
	policy_set_id text not null references policy_sets on delete cascade,
	status text not null default 'pending',
	source text not null default 'tfe-api',
	error text,
	blob_id text references blobs,
	status_timestamps jsonb not null default '{}',
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);

create table policy_set_parameters (
	id text primary key,
	policy_set_id text not null references policy_sets on delete cascade,
	key text not null,
	value_sealed bytea not null,
	sensitive boolean not null default false,
	created_at timestamptz not null default now(),
	unique (policy_set_id, key)
);

-- One evaluation a run and kind, made with the run. `bundle` is what is evaluated, as it was then: an array of sets,
-- each {id, name, description, overridable, version_blob, parameters_sealed (base64), policies: [{id, name, query, enforcement, blob}]}.
create table policy_evaluations (
	id text primary key,
	run_id text not null references runs on delete cascade,
	kind text not null,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	bundle jsonb not null,
	result_count jsonb not null default '{}',
	result jsonb,
	output text not null default '',
	overridden_by text references users on delete set null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	unique (run_id, kind)
);

create table policy_set_outcomes (
	id text primary key,
	policy_evaluation_id text not null references policy_evaluations on delete cascade,
	policy_set_id text not null,
	name text not null,
	description text not null default '',
	overridable boolean not null,
	outcomes jsonb not null default '[]',
	error text,
	result_count jsonb not null default '{}'
);
create index policy_set_outcomes_evaluation on policy_set_outcomes (policy_evaluation_id);
