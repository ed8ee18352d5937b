-- SPDX-License-Identifier: MPL-2.0

-- shape: backing
-- status text, needed text null

-- statement: configuration_backing_lock
-- Locks the configuration version. needed: why its content is needed; null: it is not.
-- index: run_inputs_configuration
-- reads: workspaces
-- takes: id text
-- gives: backing
select c.status, case
    when exists (select 1 from workspaces w where w.current_configuration_id = c.id) then 'it is current'
    when exists (
        select 1 from configuration_commits k where k.configuration_version_id = c.id
    ) then 'it came from a repository'
    when exists (
        select 1
        from run_inputs i
        join runs r on r.id = i.run_id
        where i.configuration_version_id = c.id and not r.ended
    ) then 'a run needs it' end as needed
from configuration_versions c
where c.id = :id
for update;

-- statement: state_backing_lock
-- The same for a state version.
-- index: state_versions_pkey
-- reads: workspaces
-- takes: like configuration_backing_lock
-- gives: backing
select s.status, case
    when exists (select 1 from workspaces w where w.current_state_id = s.id) then 'it is current' end as needed
from state_versions s
where s.id = :id
for update;

-- statement: configuration_backing_set
-- Hides the content, or shows it again.
-- index: configuration_versions_pkey
-- takes: id text, status text
update configuration_versions set status = :status, hidden_at = now() where id = :id;

-- statement: state_backing_set
-- A state that was detached is detached again.
-- index: state_versions_pkey
-- takes: like configuration_backing_set
update state_versions
set status = case when was_detached and :status = 'finalized' then 'detached' else :status end, hidden_at = now()
where id = :id;

-- statement: configuration_backing_clear
-- Deletes the reference to the content. Unreferenced blobs are swept.
-- index: configuration_versions_pkey
-- takes: id text
update configuration_versions set blob_id = null where id = :id;

-- statement: state_backing_clear
-- The same for a state, and deletes its outputs.
-- index: state_version_outputs_state
-- takes: like configuration_backing_clear
with gone as (delete from state_version_outputs where state_version_id = :id)
update state_versions
set blob_id = null, json_blob_id = null
where id = :id;
