-- SPDX-License-Identifier: MPL-2.0
-- Run tasks: what an organization may call, where, and what came of each call.

-- A notifier's token is neither a user's nor a pool's.
alter table tokens add column notifier boolean not null default false;
alter table tokens drop constraint tokens_check;
alter table tokens add constraint tokens_owner check (num_nonnulls(user_id, pool_id) + notifier::int = 1);

create table tasks (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	url text not null,
	description text not null default '',
	hmac_sealed bytea,
	enabled boolean not null default true,
	global_enabled boolean not null default false,
	global_stages text[] not null default '{}',
	global_enforcement text not null default 'advisory',
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index tasks_name on tasks (organization_id, lower(name));

create table workspace_tasks (
	id text primary key,
	task_id text not null references tasks on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	stages text[] not null,
	enforcement text not null,
	created_at timestamptz not null default now(),
	unique (workspace_id, task_id)
);
create index workspace_tasks_task on workspace_tasks (task_id);

-- Made with the run: one row a stage that has something in it.
create table task_stages (
	id text primary key,
	run_id text not null references runs on delete cascade,
	stage text not null,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	unique (run_id, stage)
);

-- One call of one task in one stage, with what it was like when the run was made. `delivery` is how far the request is:
-- waiting (to be claimed), claimed (a notifier has it, until lease_until), acknowledged (answered 200, until due_at), over.
create table task_results (
	id text primary key,
	task_stage_id text not null references task_stages on delete cascade,
	run_id text not null references runs on delete cascade,
	stage text not null,
	task_id text not null,
	workspace_task_id text,
	task_name text not null,
	task_url text not null,
	enforcement text not null,
	hmac_sealed bytea,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	message text,
	url text,
	delivery text not null default 'none',
	attempt integer not null default 0,
	notifier text,
	token_hash text,
	give_up_at timestamptz,
	lease_until timestamptz,
	due_at timestamptz,
	last_at timestamptz,
	reported jsonb,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create index task_results_stage on task_results (task_stage_id);
create index task_results_run on task_results (run_id);
create index task_results_waiting on task_results (created_at) where delivery = 'waiting';
create index task_results_leases on task_results (lease_until) where delivery = 'claimed';
create index task_results_due on task_results (due_at) where delivery = 'acknowledged';
create index task_results_reported on task_results (updated_at) where reported is not null;

create table task_result_outcomes (
	id text primary key,
	task_result_id text not null references task_results on delete cascade,
	position integer not null,
	outcome_id text not null,
	description text not null,
	url text,
	tags jsonb not null default '{}',
	body text
);
create index task_result_outcomes_result on task_result_outcomes (task_result_id, position);

-- The delivery log: one row a request that was sent.
create table task_deliveries (
	id bigint generated always as identity primary key,
	task_result_id text not null references task_results on delete cascade,
	sent_at timestamptz not null default now(),
	status integer not null,
	seconds double precision not null,
	answer text,
	error text
);
create index task_deliveries_result on task_deliveries (task_result_id, id);
