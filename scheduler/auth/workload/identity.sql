-- SPDX-License-Identifier: MPL-2.0

-- statement: workload_names
-- What the identities of a workspace's runs name.
-- takes: workspace text
-- gives: organization text, organization_id text, project text, project_id text, workspace text
select g.name as organization, g.id as organization_id, x.name as project, x.id as project_id, w.name as workspace
from workspaces w
join organizations g on g.id = w.organization_id
join projects x on x.id = w.project_id
where w.id = :workspace;
