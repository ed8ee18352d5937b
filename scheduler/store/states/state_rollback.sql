-- SPDX-License-Identifier: MPL-2.0

-- statement: state_serial_lock
-- Locks the workspace, and reads the serial of its state; null: it has none.
-- index: state_versions_pkey, workspaces_pkey
-- takes: workspace_id text
-- gives: serial bigint null
select (select s.serial from state_versions s where s.id = w.current_state_id) as serial
from workspaces w
where w.id = :workspace_id
for update;

-- statement: state_rollback_find
-- The state version, if it is of the workspace and has its content.
-- index: state_versions_workspace
-- takes: to_id text, workspace_id text
-- gives: id text
select id
from state_versions
where id = :to_id and workspace_id = :workspace_id and status in ('finalized', 'detached')
    and blob_id is not null;
