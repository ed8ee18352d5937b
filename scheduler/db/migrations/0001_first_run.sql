-- SPDX-License-Identifier: MPL-2.0
-- What lasts. Ids have the API's form. Columns named *_sealed hold AES-256-GCM bytes (common/crypto.h), bound to their row by the context.

create table organizations (
	id text primary key,
	name text not null,
	email text not null,
	settings jsonb not null default '{}',
	created_at timestamptz not null default now()
);
create unique index organizations_name on organizations (lower(name));

create table users (
	id text primary key,
	username text not null,
	email text not null,
	is_site_admin boolean not null default false,
	created_at timestamptz not null default now()
);
create unique index users_username on users (lower(username));

create table organization_memberships (
	organization_id text not null references organizations on delete cascade,
	user_id text not null references users on delete cascade,
	primary key (organization_id, user_id)
);
create index organization_memberships_user on organization_memberships (user_id);

-- A pool without an organization serves all of them; exactly one such pool exists.
create table agent_pools (
	id text primary key,
	organization_id text references organizations on delete cascade,
	name text not null,
	created_at timestamptz not null default now()
);
create unique index agent_pools_name on agent_pools (coalesce(organization_id, ''), lower(name));

-- A token is known by its SHA-256 only.
create table tokens (
	id text primary key,
	hash text not null unique,
	user_id text references users on delete cascade,
	pool_id text references agent_pools on delete cascade,
	description text not null default '',
	created_at timestamptz not null default now(),
	last_used_at timestamptz,
	expired_at timestamptz,
	check (num_nonnulls(user_id, pool_id) = 1)
);

create table blobs (
	id text primary key,
	size bigint not null,
	bytes_sealed bytea not null,
	created_at timestamptz not null default now()
);
alter table blobs alter column bytes_sealed set storage external;

create table workspaces (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	pool_id text references agent_pools on delete set null,
	name text not null,
	description text,
	auto_apply boolean not null default false,
	execution_mode text not null default 'remote',
	terraform_version text not null default '',
	working_directory text not null default '',
	structured_run_output boolean not null default true,
	settings jsonb not null default '{}',
	locked_by text references users on delete set null,
	locked_reason text,
	current_run_id text,
	latest_run_id text,
	current_state_id text,
	current_configuration_id text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index workspaces_name on workspaces (organization_id, lower(name));

create table variables (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	key text not null,
	value_sealed bytea not null,
	description text,
	category text not null,
	hcl boolean not null default false,
	sensitive boolean not null default false,
	version_id text not null,
	created_at timestamptz not null default now()
);
create unique index variables_key on variables (workspace_id, category, key);

create table configuration_versions (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	status text not null default 'pending',
	source text not null default 'tfe-api',
	auto_queue_runs boolean not null default true,
	speculative boolean not null default false,
	provisional boolean not null default false,
	blob_id text references blobs,
	error text,
	error_message text,
	status_timestamps jsonb not null default '{}',
	created_by text references users on delete set null,
	created_at timestamptz not null default now()
);
create index configuration_versions_workspace on configuration_versions (workspace_id, created_at desc);

-- A run as the lifecycle sees it, narrow because every transition writes it; what it was asked to do is in run_inputs.
create table runs (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	organization_id text not null references organizations on delete cascade,
	position bigint generated always as identity,
	status text not null,
	stage text not null,
	stages integer not null,
	plan_only boolean not null,
	save_plan boolean not null,
	auto_apply boolean not null,
	allow_empty_apply boolean not null,
	has_changes boolean not null default false,
	underway boolean not null default false,
	queued boolean not null default true,
	stopping smallint not null default 0,
	holds boolean not null default false,
	ended boolean not null default false,
	status_timestamps jsonb not null default '{}',
	canceled_at timestamptz,
	force_cancel_available_at timestamptz,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
-- One active run a workspace, whatever the code does.
create unique index runs_active on runs (workspace_id) where holds;
create index runs_queue on runs (workspace_id, position) where queued or status = 'planned_and_saved';
create index runs_workspace on runs (workspace_id, position desc);
create index runs_organization on runs (organization_id, position desc);

create table run_inputs (
	run_id text primary key references runs on delete cascade,
	configuration_version_id text not null references configuration_versions,
	pool_id text not null references agent_pools,
	message text not null,
	source text not null,
	trigger_reason text not null default 'manual',
	is_destroy boolean not null default false,
	refresh boolean not null default true,
	refresh_only boolean not null default false,
	allow_config_generation boolean not null default false,
	json_log boolean not null default true,
	target_addrs jsonb,
	replace_addrs jsonb,
	terraform_version text not null,
	working_directory text not null,
	variables_sealed bytea,
	snapshot_sealed bytea not null,
	error text,
	created_by text references users on delete set null,
	confirmed_by text references users on delete set null,
	canceled_by text references users on delete set null
);
create index run_inputs_configuration on run_inputs (configuration_version_id);

-- A run's plan and its apply: plan-X and apply-X of run-X.
create table operations (
	id text primary key,
	run_id text not null references runs on delete cascade,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	additions integer,
	changes integer,
	destructions integer,
	imports integer,
	terraform_version text,
	worker_id text,
	worker_name text,
	log_length bigint not null default 0,
	log_ended boolean not null default false,
	plan_blob text references blobs,
	json_blob text references blobs,
	init_blob text references blobs,
	schemas_blob text references blobs,
	base_state_id text
);
create index operations_run on operations (run_id);

create table log_chunks (
	operation_id text not null references operations on delete cascade,
	start bigint not null,
	length integer not null,
	bytes_sealed bytea not null,
	primary key (operation_id, start)
);

create table workers (
	id text primary key,
	pool_id text not null references agent_pools on delete cascade,
	name text not null,
	version text not null default '',
	address text not null default '',
	slots integer not null,
	free integer not null,
	draining boolean not null default false,
	partitions integer[] not null default '{}',
	created_at timestamptz not null default now(),
	seen_at timestamptz not null default now()
);
create index workers_pool on workers (pool_id);

-- Work that waits or runs, and nothing else: a job's row goes when its attempt ends.
create table jobs (
	id text primary key,
	run_id text not null unique references runs on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	organization_id text not null references organizations on delete cascade,
	pool_id text not null references agent_pools on delete cascade,
	stage text not null,
	class smallint not null,
	attempt integer not null default 1,
	state text not null default 'waiting',
	started boolean not null default false,
	stop smallint not null default 0,
	worker_id text,
	token_hash text,
	log_base bigint not null default 0,
	lease_until timestamptz,
	announced_at timestamptz not null default now(),
	created_at timestamptz not null default now()
);
create index jobs_waiting on jobs (pool_id, class, organization_id, created_at, id) where state = 'waiting';
create index jobs_claimed on jobs (lease_until) where state = 'claimed';

create table state_versions (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	run_id text,
	job_id text,
	serial bigint not null,
	lineage text not null,
	md5 text not null,
	size bigint not null,
	status text not null default 'finalized',
	intermediate boolean not null default false,
	recovered boolean not null default false,
	terraform_version text,
	resources jsonb not null default '[]',
	blob_id text references blobs,
	created_by text references users on delete set null,
	created_at timestamptz not null default now()
);
create index state_versions_workspace on state_versions (workspace_id, created_at desc);
create index state_versions_run on state_versions (run_id);
create unique index state_versions_job on state_versions (job_id) where job_id is not null;

create table state_version_outputs (
	id text primary key,
	state_version_id text not null references state_versions on delete cascade,
	name text not null,
	sensitive boolean not null,
	type text not null,
	detailed_type jsonb not null,
	value_sealed bytea not null
);
create index state_version_outputs_state on state_version_outputs (state_version_id, name);

create table comments (
	id text primary key,
	run_id text not null references runs on delete cascade,
	body text not null,
	created_by text references users on delete set null,
	created_at timestamptz not null default now()
);
create index comments_run on comments (run_id);

create table run_events (
	id text primary key,
	run_id text not null references runs on delete cascade,
	action text not null,
	description text not null default '',
	actor_id text references users on delete set null,
	comment_id text references comments on delete set null,
	created_at timestamptz not null default now()
);
create index run_events_run on run_events (run_id, created_at);

create table outbox (
	id bigint generated always as identity primary key,
	topic text not null,
	partition integer not null default -1,
	key text,
	payload text not null,
	created_at timestamptz not null default now()
);

create table dead_letters (
	id bigint generated always as identity primary key,
	topic text not null,
	partition integer not null,
	"offset" bigint not null,
	payload bytea not null,
	error text not null,
	created_at timestamptz not null default now(),
	replayed_at timestamptz,
	unique (topic, partition, "offset", created_at)
);
