-- SPDX-License-Identifier: MPL-2.0
-- Runs that an applied run has yet to start in the targets of its workspace's run triggers. The transaction that applies the run
-- inserts the rows; the sweep of scheduler/runs/triggers.c creates each run and deletes its row.
create table pending_run_triggers (
	run_id text not null references runs on delete cascade, -- the applied run
	workspace_id text not null, -- the target; no foreign key, which would make the apply wait for, or fail with, the target's deletion
	tries integer not null default 0,
	error text, -- of the last try
	next_at timestamptz not null default now(), -- of the next try
	primary key (run_id, workspace_id)
);
create index pending_run_triggers_next on pending_run_triggers (next_at);
