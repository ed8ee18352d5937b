-- SPDX-License-Identifier: MPL-2.0
-- Applies that ended before their last state had come. Each holds its workspace until the state is here, an operator
-- decides, or its time is over; and its token goes on to be good for handing in that state for as long as its run is
-- there, since a worker may come back after that.

create table workspace_holds (
	job_id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	run_id text not null references runs on delete cascade,
	worker text not null,
	token_hash text not null,
	began_at timestamptz not null default now(),
	until timestamptz -- null: it holds no more
);
create index workspace_holds_workspace on workspace_holds (workspace_id);
create index workspace_holds_run on workspace_holds (run_id);
create index workspace_holds_until on workspace_holds (until) where until is not null;

-- On the workspace's own row, so that whoever waited for its lock sees it.
alter table workspaces add column hold_job_id text;

-- A state that could not become the current one is kept beside the others, in a row of its own.
alter table state_versions drop constraint state_versions_status;
alter table state_versions add constraint state_versions_status check (status in ('pending', 'finalized', 'discarded',
	'kept_beside', 'backing_data_soft_deleted', 'backing_data_permanently_deleted'));
drop index state_versions_job;
create unique index state_versions_job on state_versions (job_id, (status = 'kept_beside')) where job_id is not null;
create index state_versions_beside on state_versions (workspace_id) where status = 'kept_beside';
