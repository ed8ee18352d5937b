-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_approval_workspaces
-- The workspaces that wait for the approval.
-- index: vcs_outcomes_pkey, workspaces_pkey
-- takes: event_id text
-- gives: workspace_id text
select w.id as workspace_id
from vcs_outcomes o
join workspaces w on w.id = o.subject_id
where o.event_id = :event_id and o.reason = 'fork_approval';

-- statement: vcs_pull_request_approve
-- Approves the head of the pull request for the workspaces, if it is still that of the event.
-- index: vcs_pull_requests_state
-- takes: event_id text, workspace_ids text[]
update vcs_pull_requests p
set approved_sha = e.sha, approved_workspaces = case
    when p.approved_sha = e.sha then p.approved_workspaces else '{}' end || :workspace_ids::text[]
from vcs_events e
where e.id = :event_id and e.state = 'approval' and p.repository_id = e.repository_id
    and p.number = e.pull_request and p.head_sha = e.sha and p.state = 'open';

-- statement: vcs_event_approved
-- Lets the event be decided again.
-- index: vcs_events_pkey
-- takes: event_id text
update vcs_events set state = 'waiting', due_at = now() where id = :event_id and state = 'approval';

-- statement: vcs_repository_of_workspace
-- The repository that the workspace is connected to.
-- index: workspace_repositories_pkey
-- takes: workspace_id text
-- gives: repository_id text
select repository_id from workspace_repositories where workspace_id = :workspace_id;
