-- SPDX-License-Identifier: MPL-2.0

-- statement: workspaces_count_statuses
-- Numbers of the organization's workspaces that the requester sees, by the status of their current run; null is
-- those without one.
-- index: team_members_user, team_projects_team, team_workspaces_team, workspaces_name, workspaces_project
-- takes: organization_id text, project_ids text, everywhere boolean, user text
-- gives: status text null, workspaces bigint, locked bigint
select r.status, count(*) as workspaces, count(*) filter (where f.locked_by is not null) as locked
from workspaces f
left join runs r on r.id = coalesce(f.current_run_id, f.latest_run_id)
where f.organization_id = :organization_id and f.module_id is null
    and (:project_ids::text is null or f.project_id = any(string_to_array(:project_ids, ',')))
    and :workspace_in_scope(:everywhere, :user, f.id)
group by r.status
order by r.status;
