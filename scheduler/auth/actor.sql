-- SPDX-License-Identifier: MPL-2.0

-- statement: task_find
-- takes: hash text
-- gives: run_id text
select run_id from task_results where token_hash = :hash and status in ('pending', 'running');

-- shape: given
-- rights bigint

-- statement: given_read
-- takes: user text, organization text
-- gives: given
select coalesce(bit_or(g.rights), 0) as rights
from team_members m
join (select team_id, rights from team_projects union all select team_id, rights from team_workspaces) g
    on g.team_id = m.team_id
where m.user_id = :user and m.organization_id = :organization;

-- statement: given_read_read_2
-- takes: user text, organization text, workspace text
-- gives: given
select :rights_in_workspace(:user, :organization, :workspace) as rights;

-- statement: given_read_read_3
-- takes: user text, organization text, project text
-- gives: given
select :rights_in_project(:user, :organization, :project) as rights;

-- statement: actor_may_for_task
-- takes: run text, run_id text, configuration_version_id text
select 1
from run_inputs
where run_id = :run and (:run_id::text is null or run_id = :run_id)
    and (:configuration_version_id::text is null or configuration_version_id = :configuration_version_id);
