-- SPDX-License-Identifier: MPL-2.0

-- fragment: policy_sets_columns()
s.*, o.name as organization_name,
    (
        select coalesce(jsonb_agg(m.policy_id order by m.policy_id), '[]')
        from policy_set_policies m
        where m.policy_set_id = s.id
    ) as policies,
    (
        select coalesce(jsonb_agg(m.workspace_id order by m.workspace_id), '[]')
        from policy_set_workspaces m
        where m.policy_set_id = s.id and not m.excluded
    ) as workspaces,
    (
        select coalesce(jsonb_agg(m.workspace_id order by m.workspace_id), '[]')
        from policy_set_workspaces m
        where m.policy_set_id = s.id and m.excluded
    ) as workspace_exclusions,
    (
        select coalesce(jsonb_agg(m.project_id order by m.project_id), '[]')
        from policy_set_projects m
        where m.policy_set_id = s.id and not m.excluded
    ) as projects,
    (
        select coalesce(jsonb_agg(m.project_id order by m.project_id), '[]')
        from policy_set_projects m
        where m.policy_set_id = s.id and m.excluded
    ) as project_exclusions, :vcs_used_by_policy_set(s.id) as repository;

-- fragment: policy_sets_tables()
from policy_sets s join organizations o on o.id = s.organization_id;

-- statement: policy_sets_list
-- takes: organization_id text, search text, kind text, limit bigint, offset bigint
-- gives: total bigint, id text, organization_id text, name text, description text, kind text, global boolean,
-- overridable boolean, agent_enabled boolean, policy_tool_version text null, policies_path text null,
-- current_version_id text null, newest_version_id text null, settings jsonb, created_at timestamptz,
-- updated_at timestamptz, organization_name text, policies jsonb, workspaces jsonb, workspace_exclusions jsonb,
-- projects jsonb, project_exclusions jsonb, repository jsonb null
with found as (
    select id
    from policy_sets
    where organization_id = :organization_id
        and (:search::text is null or strpos(lower(name), lower(:search)) > 0)
        and (:kind::text is null or kind = :kind)
)
select c.total, s.*
from (select count(*) as total from found) c
left join (
    select :policy_sets_columns() :policy_sets_tables()
    where s.id in (select id from found)
    order by lower(s.name)
    limit :limit
    offset :offset
) s on true
order by lower(s.name);

-- statement: policy_set_read
-- takes: id text
-- gives: id text, organization_id text, name text, description text, kind text, global boolean,
-- overridable boolean, agent_enabled boolean, policy_tool_version text null, policies_path text null,
-- current_version_id text null, newest_version_id text null, settings jsonb, created_at timestamptz,
-- updated_at timestamptz, organization_name text, policies jsonb, workspaces jsonb, workspace_exclusions jsonb,
-- projects jsonb, project_exclusions jsonb, repository jsonb null
select :policy_sets_columns() :policy_sets_tables() where s.id = :id;

-- statement: create_row
-- takes: id text, organization_id text, name text, description text, kind text, global boolean,
-- overridable boolean, agent_enabled boolean, tool_version text, policies_path text, settings jsonb
insert into policy_sets (
    id, organization_id, name, description, kind, global, overridable, agent_enabled, policy_tool_version,
        policies_path, settings)
values (:id, :organization_id, :name, :description, :kind, :global, :overridable, :agent_enabled,
        :tool_version, :policies_path, :settings::jsonb);

-- statement: policy_set_update
-- takes: id text, name text, description text, global boolean, overridable boolean, agent_enabled boolean,
-- tool_version text, policies_path text, settings jsonb
update policy_sets
set name = :name, description = :description, global = :global, overridable = :overridable,
    agent_enabled = :agent_enabled, policy_tool_version = :tool_version, policies_path = :policies_path,
    settings = settings || :settings::jsonb, updated_at = now()
where id = :id;

-- statement: policy_set_delete
-- takes: id text
delete from policy_sets where id = :id;
