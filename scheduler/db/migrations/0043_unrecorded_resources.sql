-- SPDX-License-Identifier: MPL-2.0
-- Resources that the engine of an apply reported as created, changed or destroyed and that its last state does not show.
-- Open ones keep their workspace held.
create table unrecorded_resources (
	id text primary key,
	run_id text not null references runs on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	job_id text not null,
	digest text not null, -- of the job, the action, the address and the resource's id
	action text not null check (action in ('create', 'update', 'delete')),
	address text not null,
	type text not null,
	provider text not null,
	resource_id_sealed bytea not null,
	created_at timestamptz not null default now(),
	dismissed_at timestamptz,
	dismissed_by text,
	unique (job_id, digest)
);
create index unrecorded_resources_run on unrecorded_resources (run_id);
create index unrecorded_resources_workspace on unrecorded_resources (workspace_id);

-- settled_at: no state of the apply is awaited any more; only open unrecorded resources hold the workspace.
-- compared_at: the reports of the apply were compared with its last state. Holds that have ended are not looked at.
alter table workspace_holds add column settled_at timestamptz;
alter table workspace_holds add column compared_at timestamptz;
update workspace_holds set compared_at = now() where until is null;
create index workspace_holds_compared on workspace_holds (job_id) where compared_at is null;
