-- SPDX-License-Identifier: MPL-2.0

-- fragment: state_columns()
s.id, s.workspace_id, s.run_id, s.job_id, s.serial, s.lineage, s.md5, s.size, s.status, s.intermediate,
    s.recovered, s.terraform_version, s.resources, s.blob_id, s.json_blob_id, s.rollback_id, s.created_by,
    s.created_at,
    (
        select k.sha
        from run_inputs c
        join configuration_commits k on k.configuration_version_id = c.configuration_version_id
        where c.run_id = s.run_id
    ) as commit_sha,
    (
        select k.detail ->> 'commit-url'
        from run_inputs c
        join configuration_commits k on k.configuration_version_id = c.configuration_version_id
        where c.run_id = s.run_id
    ) as commit_url,
    (
        select coalesce(jsonb_agg(o.id order by o.name), '[]')
        from state_version_outputs o
        where o.state_version_id = s.id
    ) as output_ids;

-- fragment: state_output_columns()
o.id, o.state_version_id, o.name, o.sensitive, o.type, o.detailed_type, o.value_sealed;

-- statement: state_json_lock
-- Locks the workspace. locked: the state's creator has locked it for users.
-- index: state_versions_pkey, workspaces_pkey
-- takes: id text
-- gives: locked boolean
select coalesce(w.locked_by = s.created_by, false) as locked
from state_versions s
join workspaces w on w.id = s.workspace_id
where s.id = :id
for no key update of w;

-- statement: state_json_put
-- Stores the JSON form, once.
-- index: state_versions_pkey
-- takes: id text, blob text
update state_versions
set json_blob_id = :blob
where id = :id and json_blob_id is null and status in ('pending', 'finalized');

-- shape: state
-- total bigint optional, id text, workspace_id text, run_id text null, job_id text null, serial bigint,
-- lineage text, md5 text, size bigint, status text, intermediate boolean, recovered boolean,
-- terraform_version text null, resources jsonb, blob_id text null, json_blob_id text null,
-- rollback_id text null, created_by text null, created_at timestamptz, commit_sha text null,
-- commit_url text null, output_ids jsonb

-- statement: state_read
-- A state version by its id.
-- index: state_version_outputs_state
-- takes: id text
-- gives: state
select :state_columns() from state_versions s where s.id = :id;

-- statement: state_read_current
-- The current state of the workspace.
-- index: state_version_outputs_state
-- takes: workspace_id text
-- gives: state
select :state_columns()
from workspaces w
join state_versions s on s.id = w.current_state_id
where w.id = :workspace_id;

-- statement: states_read_all
-- Of these states, those that the user may see.
-- index: state_version_outputs_state, team_members_user, team_projects_project, team_workspaces_workspace,
-- teams_organization
-- takes: ids text[], user text
-- gives: state
select :state_columns()
from state_versions s
join workspaces v on v.id = s.workspace_id
where s.id = any(:ids::text[])
    and :scope_has(:user, :rights_in_workspace(:user, v.organization_id, v.id), 128);

-- statement: state_recovered
-- The newest state that a failed apply left behind.
-- index: state_versions_run
-- takes: run_id text
-- gives: id text
select s.id
from state_versions s
join runs r on r.id = s.run_id
where r.id = :run_id and (s.recovered and s.status = 'finalized' or s.status = 'detached')
    and r.status = 'errored'
order by s.created_at desc
limit 1;

-- statement: states_list
-- A page of the workspace's states, the newest first; without a status, all but detached ones.
-- index: state_version_outputs_state, state_versions_workspace
-- takes: workspace_id text, status text, limit bigint, offset bigint
-- gives: state
select t.total, f.*
from (
    select count(*) as total
    from state_versions
    where workspace_id = :workspace_id and case when :status::text is null then status <> 'detached'
        else status = :status end
) t
left join (
    select :state_columns()
    from state_versions s
    where s.workspace_id = :workspace_id and case when :status::text is null then s.status <> 'detached'
        else s.status = :status end
    order by s.created_at desc, s.serial desc
    limit :limit
    offset :offset
) f on true
order by f.created_at desc, f.serial desc;

-- shape: state_output
-- id text, state_version_id text, name text, sensitive boolean, type text, detailed_type jsonb,
-- value_sealed bytea, workspace_id text optional

-- statement: state_outputs
-- The outputs of a state, by name.
-- index: state_version_outputs_state
-- takes: state_id text
-- gives: state_output
select :state_output_columns()
from state_version_outputs o
where o.state_version_id = :state_id
order by o.name;

-- statement: state_outputs_read_all
-- Outputs by their ids.
-- index: state_version_outputs_pkey
-- takes: ids text[]
-- gives: state_output
select :state_output_columns() from state_version_outputs o where o.id = any(:ids::text[]) order by o.name;

-- statement: outputs_of_states
-- The outputs of these states, where the user may read them.
-- index: state_version_outputs_state, team_members_user, team_projects_project, team_workspaces_workspace,
-- teams_organization
-- takes: state_ids text[], user text
-- gives: state_output
select :state_output_columns()
from state_version_outputs o
join state_versions s on s.id = o.state_version_id
join workspaces v on v.id = s.workspace_id
where o.state_version_id = any(:state_ids::text[])
    and :scope_has(:user, :rights_in_workspace(:user, v.organization_id, v.id), 64)
order by o.name;

-- statement: state_output_read
-- An output, with its workspace.
-- index: state_version_outputs_pkey, state_versions_pkey
-- takes: id text
-- gives: state_output
select :state_output_columns(), s.workspace_id
from state_version_outputs o
join state_versions s on s.id = o.state_version_id
where o.id = :id;
