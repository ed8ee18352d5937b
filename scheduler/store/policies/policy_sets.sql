-- SPDX-License-Identifier: MPL-2.0

-- shape: policy_set
-- total bigint optional, id text, organization_id text, name text, description text, kind text, global boolean,
-- overridable boolean, agent_enabled boolean, policy_tool_version text null, policies_path text null,
-- current_version_id text null, newest_version_id text null, settings jsonb, created_at timestamptz,
-- updated_at timestamptz, organization_name text, policies jsonb, workspaces jsonb, workspace_exclusions jsonb,
-- projects jsonb, project_exclusions jsonb, tag_selectors jsonb, repository jsonb null

-- fragment: policy_set_members(table, column, condition)
-- The ids of a relation of the set s.
(
    select coalesce(jsonb_agg(m.:column order by m.:column), '[]')
    from :table m
    where m.policy_set_id = s.id :condition
);

-- fragment: policy_sets()
-- The columns of the shape policy_set.
s.*, o.name as organization_name,
    :policy_set_members(policy_set_policies, policy_id, {}) as policies,
    :policy_set_members(policy_set_workspaces, workspace_id, and not m.excluded) as workspaces,
    :policy_set_members(policy_set_workspaces, workspace_id, and m.excluded) as workspace_exclusions,
    :policy_set_members(policy_set_projects, project_id, and not m.excluded) as projects,
    :policy_set_members(policy_set_projects, project_id, and m.excluded) as project_exclusions,
    (
        select coalesce(jsonb_agg(
            jsonb_build_object(
                'tag-key', x.key, 'tag-value', nullif(x.value, ''), 'is-exclude', x.excluded
            ) order by x.position
        ), '[]')
        from policy_set_tag_selectors x
        where x.policy_set_id = s.id
    ) as tag_selectors,
    :vcs_used_by_policy_set(s.id) as repository
from policy_sets s
join organizations o on o.id = s.organization_id;

-- statement: policy_sets_list
-- One page by name, with the total in each row; one row without a set if the page is empty.
-- index: policy_sets_name, vcs_tokens_connection_id_key
-- takes: organization_id text, search text, kind text, versioned text, limit bigint, offset bigint
-- gives: policy_set
with found as (
    select id
    from policy_sets
    where organization_id = :organization_id
        and (:search::text is null or strpos(lower(name), lower(:search)) > 0)
        and (:kind::text is null or kind = :kind)
        and (:versioned::text is null or :versioned::boolean = (newest_version_id is not null))
)
select c.total, s.*
from (select count(*) as total from found) c
left join (
    select :policy_sets()
    where s.id in (select id from found)
    order by lower(s.name)
    limit :limit
    offset :offset
) s on true
order by lower(s.name);

-- statement: policy_set_read
-- One set.
-- index: vcs_tokens_connection_id_key
-- takes: id text
-- gives: policy_set
select :policy_sets() where s.id = :id;

-- statement: policy_sets_read_all
-- Sets by their ids.
-- index: policy_sets_pkey, vcs_tokens_connection_id_key
-- takes: ids text[]
-- gives: policy_set
select :policy_sets() where s.id = any(:ids::text[]);

-- statement: policy_set_create
-- Creates a set without policies and scope.
-- takes: id text, organization_id text, name text, description text, kind text, global boolean,
-- overridable boolean, agent_enabled boolean, tool_version text, policies_path text, settings jsonb
insert into policy_sets
    (id, organization_id, name, description, kind, global, overridable, agent_enabled, policy_tool_version,
        policies_path, settings)
values (:id, :organization_id, :name, :description, :kind, :global, :overridable, :agent_enabled,
    :tool_version, :policies_path, :settings::jsonb);

-- statement: policy_set_update
-- `settings`: the members to change.
-- index: policy_sets_pkey
-- takes: id text, name text, description text, global boolean, overridable boolean, agent_enabled boolean,
-- tool_version text, policies_path text, settings jsonb
update policy_sets
set name = :name, description = :description, global = :global, overridable = :overridable,
    agent_enabled = :agent_enabled, policy_tool_version = :tool_version, policies_path = :policies_path,
    settings = settings || :settings::jsonb, updated_at = now()
where id = :id;

-- statement: policy_set_delete
-- Deletes a set. Its policies stay.
-- index: policy_sets_pkey
-- takes: id text
delete from policy_sets where id = :id;

-- fragment: policy_set_attach(of, condition, into)
-- Attaches those of the ids that are in the set's organization and meet the condition, and returns their number.
with may as (
    select x.id
    from policy_sets s
    join :of x on x.organization_id = s.organization_id
    where s.id = :id and x.id = any(:ids::text[]) :condition
),
done as (insert into :into)
select count(*) as found
from may;

-- fragment: policy_set_scope(of, table, column, excluded)
-- Adds to the set's scope; of an inclusion and an exclusion, the later one counts.
:policy_set_attach(:of, {}, {
    :table (policy_set_id, :column, excluded)
    select :id, id, :excluded
    from may
    on conflict (policy_set_id, :column) do update set excluded = :excluded
});

-- shape: policy_set_attached
-- found bigint

-- statement: policy_set_attach_policies
-- Policies of the set's kind, if it has no versions and no repository.
-- index: policies_name
-- takes: id text, ids text[]
-- gives: policy_set_attached
:policy_set_attach(policies, {
    and x.kind = s.kind and s.newest_version_id is null
    and not exists (select 1 from policy_set_repositories u where u.policy_set_id = s.id)
}, {
    policy_set_policies (policy_set_id, policy_id)
    select :id, id
    from may
    on conflict do nothing
});

-- statement: policy_set_attach_workspaces
-- Includes workspaces.
-- index: workspaces_name
-- takes: like policy_set_attach_policies
-- gives: policy_set_attached
:policy_set_scope(workspaces, policy_set_workspaces, workspace_id, false);

-- statement: policy_set_attach_workspace_exclusions
-- Excludes workspaces.
-- index: workspaces_name
-- takes: like policy_set_attach_policies
-- gives: policy_set_attached
:policy_set_scope(workspaces, policy_set_workspaces, workspace_id, true);

-- statement: policy_set_attach_projects
-- Includes projects.
-- index: projects_name
-- takes: like policy_set_attach_policies
-- gives: policy_set_attached
:policy_set_scope(projects, policy_set_projects, project_id, false);

-- statement: policy_set_attach_project_exclusions
-- Excludes projects.
-- index: projects_name
-- takes: like policy_set_attach_policies
-- gives: policy_set_attached
:policy_set_scope(projects, policy_set_projects, project_id, true);

-- fragment: policy_set_detach(table, column, condition)
delete from :table where policy_set_id = :id and :column = any(:ids::text[]) :condition;

-- statement: policy_set_detach_policies
-- Removes policies from the set.
-- index: policy_set_policies_pkey
-- takes: like policy_set_attach_policies
:policy_set_detach(policy_set_policies, policy_id, {});

-- statement: policy_set_detach_workspaces
-- Ends the inclusion of workspaces.
-- index: policy_set_workspaces_pkey
-- takes: like policy_set_attach_policies
:policy_set_detach(policy_set_workspaces, workspace_id, and not excluded);

-- statement: policy_set_detach_workspace_exclusions
-- Ends the exclusion of workspaces.
-- index: policy_set_workspaces_pkey
-- takes: like policy_set_attach_policies
:policy_set_detach(policy_set_workspaces, workspace_id, and excluded);

-- statement: policy_set_detach_projects
-- Ends the inclusion of projects.
-- index: policy_set_projects_pkey
-- takes: like policy_set_attach_policies
:policy_set_detach(policy_set_projects, project_id, and not excluded);

-- statement: policy_set_detach_project_exclusions
-- Ends the exclusion of projects.
-- index: policy_set_projects_pkey
-- takes: like policy_set_attach_policies
:policy_set_detach(policy_set_projects, project_id, and excluded);

-- fragment: tag_selectors_given()
-- The selectors of a request.
jsonb_to_recordset(:selectors::jsonb) as g("tag-key" text, "tag-value" text, "is-exclude" boolean);

-- statement: policy_set_tags_clear
-- Deletes all selectors of the set.
-- index: policy_set_tag_selectors_pkey
-- takes: id text
delete from policy_set_tag_selectors where policy_set_id = :id;

-- statement: policy_set_tags_add
-- Adds selectors, and returns the set's number of them. Of an inclusion and an exclusion of a tag, the later one
-- counts.
-- index: policy_set_tag_selectors_pkey
-- takes: id text, selectors jsonb
-- gives: selectors bigint
with added as (
    insert into policy_set_tag_selectors (policy_set_id, key, value, excluded)
    select :id, g."tag-key", coalesce(g."tag-value", ''), coalesce(g."is-exclude", false)
    from :tag_selectors_given()
    on conflict (policy_set_id, key, value) do update set excluded = excluded.excluded
    returning key, value
)
select count(*) as selectors
from (
    select key, value from added
    union
    select key, value from policy_set_tag_selectors where policy_set_id = :id
) x;

-- statement: policy_set_tags_remove
-- Removes selectors. Those that the set does not have are ignored.
-- index: policy_set_tag_selectors_pkey
-- takes: id text, selectors jsonb
delete from policy_set_tag_selectors x
using :tag_selectors_given()
where x.policy_set_id = :id and x.key = g."tag-key" and x.value = coalesce(g."tag-value", '')
    and x.excluded = coalesce(g."is-exclude", false);
