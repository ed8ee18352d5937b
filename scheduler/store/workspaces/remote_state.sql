-- SPDX-License-Identifier: MPL-2.0

-- fragment: remote_state_shared()
-- Whether the state of workspace p is shared with workspace c. No state is shared with a test bed of a module.
(c.module_id is null and (coalesce((p.settings ->> 'global-remote-state')::boolean, false)
        or case when coalesce((p.settings ->> 'project-remote-state')::boolean, false)
            then c.project_id = p.project_id
            else exists (
                select 1 from remote_state_consumers s where s.workspace_id = p.id and s.consumer_id = c.id
            ) end));

-- statement: state_shared
-- A row if the consumer may read the state of the producer: it is the same workspace, or shares it.
-- index: workspaces_pkey
-- takes: consumer text, producer text
select 1
from workspaces c
join workspaces p on p.organization_id = c.organization_id
where c.id = :consumer and p.id = :producer and (c.id = p.id or :remote_state_shared());

-- statement: consumers_list
-- One page of the workspaces that share the workspace's state and that the requester sees, by name.
-- index: team_members_user, team_projects_project, team_workspaces_workspace, teams_organization,
-- workspaces_name
-- takes: workspace_id text, limit bigint, offset bigint, user text
-- gives: total bigint, id text
with found as (
    select c.id, lower(c.name) as name
    from workspaces p
    join workspaces c on c.organization_id = p.organization_id and c.id <> p.id
    where p.id = :workspace_id and :remote_state_shared()
        and :scope_has(:user, :rights_in_workspace(:user, c.organization_id, c.id), 1)
)
select t.total, f.id
from (select count(*) as total from found) t
left join (select * from found order by name limit :limit offset :offset) f on true
order by f.name;

-- statement: consumers_add
-- Adds those of the workspaces that are other ones of the organization, and counts them.
-- index: workspaces_name
-- takes: workspace_id text, consumer_ids text[]
-- gives: found bigint
with may as (
    select c.id
    from workspaces p
    join workspaces c on c.organization_id = p.organization_id and c.id <> p.id
    where p.id = :workspace_id and c.id = any(:consumer_ids::text[]) and c.module_id is null
),
done as (
    insert into remote_state_consumers (workspace_id, consumer_id)
    select :workspace_id, id
    from may
    on conflict do nothing
)
select count(*) as found
from may;

-- statement: consumers_clear
-- Deletes the workspace's list of consumers.
-- index: remote_state_consumers_pkey
-- takes: workspace_id text
delete from remote_state_consumers where workspace_id = :workspace_id;

-- statement: consumers_remove
-- Deletes some of them.
-- index: remote_state_consumers_pkey
-- takes: workspace_id text, consumer_ids text[]
delete from remote_state_consumers
where workspace_id = :workspace_id and consumer_id = any(:consumer_ids::text[]);
