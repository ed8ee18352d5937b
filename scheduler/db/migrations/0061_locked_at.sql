-- SPDX-License-Identifier: MPL-2.0
-- When a person locked the workspace. A row of another user than workspaces.locked_by belongs to an earlier lock. This is
-- no column of workspaces: earlier schedulers prepare statements that return all columns of it, and PostgreSQL refuses
-- such a statement once there is another column.
create table workspace_locks (
	workspace_id text primary key references workspaces on delete cascade,
	locked_by text not null,
	locked_at timestamptz not null
);
