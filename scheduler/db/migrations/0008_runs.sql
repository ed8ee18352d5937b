-- SPDX-License-Identifier: MPL-2.0
-- What clients ask of runs, plans, configurations and states beyond the first.

alter table run_inputs add column policy_paths jsonb not null default '[]';
alter table run_inputs add column invoke_action_addrs jsonb not null default '[]';
alter table run_inputs add column debugging_mode boolean not null default false;

-- Whether the plan's JSON holds configuration that terraform wrote for what it imports.
alter table operations add column generated_configuration boolean not null default false;

-- An export is made from the plan's JSON when it is downloaded; the row says who may still do that.
create table plan_exports (
	id text primary key,
	run_id text not null references runs on delete cascade,
	data_type text not null check (data_type in ('sentinel-mock-bundle-v0')),
	created_by text references users on delete set null,
	created_at timestamptz not null default now(),
	expires_at timestamptz not null
);
create index plan_exports_run on plan_exports (run_id);

-- The same state in terraform's JSON form, if its writer sent it; and the state version that one of the same content was made from.
alter table state_versions add column json_blob_id text references blobs;
alter table state_versions add column rollback_id text references state_versions on delete set null;
create index state_versions_rollback on state_versions (rollback_id) where rollback_id is not null;

alter table state_versions add constraint state_versions_status check
	(status in ('pending', 'finalized', 'discarded', 'backing_data_soft_deleted', 'backing_data_permanently_deleted'));
alter table configuration_versions add constraint configuration_versions_status check
	(status in ('pending', 'fetching', 'uploaded', 'archived', 'errored', 'backing_data_soft_deleted', 'backing_data_permanently_deleted'));
