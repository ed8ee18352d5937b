-- SPDX-License-Identifier: MPL-2.0

-- fragment: configurations_columns()
-- Columns of a configuration version `c`; the commit it came from, and the first run that used it. `module_id`: it
-- is for the tests of that module.
c.id, c.workspace_id, (select w.organization_id from workspaces w where w.id = c.workspace_id) as organization_id,
    (select w.module_id from workspaces w where w.id = c.workspace_id) as module_id,
    c.status, c.source, c.auto_queue_runs, c.speculative, c.provisional, c.blob_id,
    c.error, c.error_message, c.status_timestamps, c.created_by, c.created_at,
    (select k.id from configuration_commits k where k.configuration_version_id = c.id) as ingress_id,
    (
        select i.run_id
        from run_inputs i
        join runs r on r.id = i.run_id
        where i.configuration_version_id = c.id and not r.test
        order by r.position
        limit 1
    ) as run_id;

-- statement: configuration_insert
-- Creates a version. What is uploaded into a workspace with a repository can only be planned. No row: the workspace
-- was made from a no-code module, from which its configurations come.
-- index: no_code_workspaces_pkey, workspace_repositories_pkey
-- takes: id text, workspace_id text, source text, auto_queue_runs boolean, speculative boolean,
-- provisional boolean, created_by text
-- gives: speculative boolean
insert into configuration_versions
    (id, workspace_id, source, auto_queue_runs, speculative, provisional, created_by)
select :id, :workspace_id, :source, :auto_queue_runs,
    :speculative or exists (select 1 from workspace_repositories where workspace_id = :workspace_id), :provisional,
    :created_by
where :source = 'tfe-module' or not exists (select 1 from no_code_workspaces where workspace_id = :workspace_id)
returning speculative;

-- statement: configuration_make_current
-- Makes the version the workspace's current one.
-- index: workspaces_pkey
-- takes: workspace_id text, id text
update workspaces set current_configuration_id = :id where id = :workspace_id;

-- shape: configuration
-- total bigint optional, id text, workspace_id text, organization_id text, module_id text null, status text,
-- source text, auto_queue_runs boolean,
-- speculative boolean, provisional boolean, blob_id text null, error text null, error_message text null,
-- status_timestamps jsonb, created_by text null, created_at timestamptz, ingress_id text null, run_id text null

-- statement: configuration_read
-- The version of that id.
-- index: run_inputs_configuration
-- takes: id text
-- gives: configuration
select :configurations_columns() from configuration_versions c where c.id = :id;

-- statement: configuration_of_run
-- The version that the run uses.
-- index: run_inputs_configuration
-- takes: run_id text
-- gives: configuration
select :configurations_columns()
from configuration_versions c
where c.id = (select configuration_version_id from run_inputs where run_id = :run_id);

-- statement: configurations_read_all
-- The versions with these ids.
-- index: run_inputs_configuration
-- takes: ids text[]
-- gives: configuration
select :configurations_columns() from configuration_versions c where c.id = any(:ids::text[]);

-- statement: configuration_files_current
-- The files of the workspace's current version, if it has any.
-- index: configuration_versions_pkey, workspaces_pkey
-- takes: workspace_id text
-- gives: blob_id text null, working_directory text
select c.blob_id, w.working_directory
from workspaces w
join configuration_versions c on c.id = w.current_configuration_id
where w.id = :workspace_id and c.blob_id is not null;

-- statement: configurations_list
-- One page of the workspace's versions, the newest first.
-- index: configuration_versions_workspace, run_inputs_configuration
-- takes: workspace_id text, limit bigint, offset bigint
-- gives: configuration
select t.total, c.*
from (select count(*) as total from configuration_versions where workspace_id = :workspace_id) t
left join (
    select :configurations_columns()
    from configuration_versions c
    where c.workspace_id = :workspace_id
    order by c.created_at desc, c.id
    limit :limit
    offset :offset
) c on true
order by c.created_at desc, c.id;

-- statement: configuration_lock
-- The version, locked, and whether a run refers to it.
-- index: run_inputs_configuration
-- takes: id text
-- gives: status text, blob_id text null, used boolean
select status, blob_id, exists (select 1 from run_inputs where configuration_version_id = :id) as used
from configuration_versions
where id = :id
for update;

-- statement: configuration_set_uploaded
-- Gives the version its files.
-- index: configuration_versions_pkey
-- takes: id text, blob_id text
update configuration_versions
set status = 'uploaded', blob_id = :blob_id, error = null, error_message = null,
    status_timestamps = status_timestamps || jsonb_build_object('finished-at', :sql_time(now()))
where id = :id;

-- statement: configuration_refuse
-- Marks a version without files as errored after a rejected upload.
-- index: configuration_versions_pkey
-- takes: id text, why text
update configuration_versions
set status = 'errored', error = 'invalid_archive', error_message = :why
where id = :id and status = 'pending';

-- statement: configuration_use_lock
-- The version, locked: whether it came from a commit, is current, or is used by a run that has not ended.
-- index: run_inputs_configuration
-- reads: workspaces
-- takes: id text
-- gives: status text, is_commit boolean, current boolean, used boolean
select c.status,
    exists (select 1 from configuration_commits k where k.configuration_version_id = c.id) as is_commit,
    exists (select 1 from workspaces w where w.current_configuration_id = c.id) as current,
    exists (
        select 1
        from run_inputs i
        join runs r on r.id = i.run_id
        where i.configuration_version_id = c.id and not r.ended
    ) as used
from configuration_versions c
where c.id = :id
for update;

-- statement: configuration_set_archived
-- Takes the version's files away.
-- index: configuration_versions_pkey
-- takes: id text
update configuration_versions
set status = 'archived', blob_id = null,
    status_timestamps = status_timestamps || jsonb_build_object('archived-at', :sql_time(now()))
where id = :id;
