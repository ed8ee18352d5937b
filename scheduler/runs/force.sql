-- SPDX-License-Identifier: MPL-2.0

-- statement: force_lock
-- Locks the run's workspace, so that its queue cannot change.
-- index: runs_pkey, workspaces_pkey
-- takes: run_id text
-- gives: current_run_id text null, locked boolean, held boolean
select w.id, w.current_run_id, w.locked_by is not null as locked, w.hold_job_id is not null as held
from workspaces w
where w.id = (select workspace_id from runs where id = :run_id)
for no key update;

-- statement: force_pending
-- A row if the run waits for those before it.
-- index: runs_pkey
-- takes: run_id text
select 1 from runs where id = :run_id and status = 'pending' and not plan_only;

-- statement: force_before
-- The workspace's current run and those that are before this one in the queue, in its order.
-- index: runs_workspace
-- takes: run_id text, current_run_id text
-- gives: id text
select b.id
from runs b
join runs r on r.id = :run_id
where b.workspace_id = r.workspace_id
    and (b.id = :current_run_id or b.queued and not b.plan_only and b.position < r.position)
order by b.position;
