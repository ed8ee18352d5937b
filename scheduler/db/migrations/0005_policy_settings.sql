-- SPDX-License-Identifier: MPL-2.0
-- What clients set of projects and policy sets and nothing else needs: members of `settings`, named as the API has them.

alter table projects add column settings jsonb not null default '{}';
alter table projects add column updated_at timestamptz not null default now();
-- Every workspace is in a project.
alter table workspaces alter column project_id set not null;

alter table policy_sets add column settings jsonb not null default '{}';
alter table policy_set_versions add column error_message text;

create index workspaces_project on workspaces (project_id);
create index policy_set_policies_policy on policy_set_policies (policy_id);
create index policy_set_workspaces_workspace on policy_set_workspaces (workspace_id);
create index policy_set_projects_project on policy_set_projects (project_id);
create index policy_set_versions_set on policy_set_versions (policy_set_id, created_at desc);
