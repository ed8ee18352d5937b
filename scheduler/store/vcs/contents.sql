-- SPDX-License-Identifier: MPL-2.0

-- fragment: contents_runs_of(v)
-- The runs of the content `v` that have not ended, as r: found by configuration_commits_content and
-- run_inputs_configuration.
from configuration_commits k
join run_inputs i on i.configuration_version_id = k.configuration_version_id
join runs r on r.id = i.run_id
where k.content_id = :v and not r.ended;

-- fragment: contents_fetches()
-- Runs that wait for the fetch stage.
and r.stages & 1 <> 0 and r.status in ('pending', 'fetching');

-- fragment: contents_needed(v)
-- Whether a run, a version of a policy set or one of a module waits for the content `v`.
(exists (select 1 :contents_runs_of(:v) :contents_fetches())
        or exists (
            select 1
            from policy_set_version_commits p
            join policy_set_versions s on s.id = p.policy_set_version_id
            where p.content_id = :v and s.status = 'ingressing'
        )
        or exists (
            select 1 from registry_module_versions m where m.content_id = :v and m.status = 'cloning'
        ));

-- fragment: configuration_in_use(c)
-- Whether a run of the configuration version `c` has not ended.
exists (
    select 1
    from run_inputs i
    join runs r on r.id = i.run_id
    where i.configuration_version_id = :c and not r.ended
);

-- statement: vcs_contents_share
-- Locks the contents of configuration versions, and of the current ones of workspaces, against a change.
-- index: configuration_commits_pkey, vcs_contents_pkey, workspaces_pkey
-- takes: configuration_ids text[], workspace_ids text[]
select 1
from vcs_contents
where id = any(array(
        select content_id
        from configuration_commits
        where configuration_version_id = any(:configuration_ids::text[] || array(
                select current_configuration_id from workspaces where id = any(:workspace_ids::text[])
            ))
    ))
order by id
for share;

-- statement: vcs_contents_read_shared
-- The same for contents, and whether each is stored.
-- index: vcs_contents_pkey
-- takes: ids text[]
-- gives: id text, stored boolean
select id, state = 'stored' as stored
from vcs_contents
where id = any(:ids::text[])
order by id
for share;

-- statement: vcs_contents_fetch
-- Lets configuration versions without a content fetch it. Returns the contents of all :configuration_ids.
-- index: configuration_commits_pkey, configuration_versions_pkey
-- takes: configuration_ids text[]
-- gives: content_id text null
with set as (
    update configuration_versions
    set status = 'fetching', error = null, error_message = null,
        status_timestamps = status_timestamps || jsonb_build_object('fetching-at', :sql_time(now()))
    where id = any(array(
            select id
            from configuration_versions
            where id = any(:configuration_ids::text[]) and status in ('pending', 'archived', 'errored')
            order by id
            for no key update
        ))
)
select distinct content_id
from configuration_commits
where configuration_version_id = any(:configuration_ids::text[]) and content_id is not null
order by 1;

-- statement: vcs_contents_take
-- Marks configuration versions as uploaded whose content is stored. The ids are on both sides of the join,
-- because a content may have the commits of a thousand workspaces.
-- index: configuration_commits_content, vcs_contents_stored
-- takes: configuration_ids text[]
update configuration_versions c
set status = 'uploaded', blob_id = v.blob_id, error = null, error_message = null,
    status_timestamps = c.status_timestamps || jsonb_build_object('finished-at', :sql_time(now()))
from configuration_commits k
join vcs_contents v on v.id = k.content_id and v.state = 'stored'
where k.configuration_version_id = any(:configuration_ids::text[]) and k.configuration_version_id = c.id
    and c.id = any(:configuration_ids::text[])
    and c.status in ('pending', 'fetching', 'archived', 'errored');

-- statement: vcs_configurations_store
-- Marks the configuration versions that wait for the content as uploaded.
-- index: configuration_commits_content
-- takes: id text, blob_id text
update configuration_versions
set status = 'uploaded', blob_id = :blob_id, error = null, error_message = null,
    status_timestamps = status_timestamps || jsonb_build_object('finished-at', :sql_time(now()))
where id = any(array(select configuration_version_id from configuration_commits where content_id = :id))
    and status in ('pending', 'fetching');

-- statement: vcs_content_store
-- Stores the content. No row if it was deleted. differs: it is not the content that was stored first.
-- index: vcs_contents_pkey
-- takes: id text, blob_id text, hash text, size bigint
-- gives: differs boolean
update vcs_contents
set state = 'stored', blob_id = :blob_id, hash = :hash, first_hash = coalesce(first_hash, :hash),
    size = :size, error = null, stored_at = now()
where id = :id
returning first_hash <> :hash as differs;

-- statement: vcs_content_fail
-- No row if the content is stored, or was deleted.
-- index: vcs_contents_pkey
-- takes: id text, sentence text
-- gives: id text
update vcs_contents
set state = 'errored', error = :sentence
where id = :id and state <> 'stored'
returning id;

-- statement: vcs_configurations_fail
-- Ends the configuration versions that wait for the content with an error.
-- index: configuration_commits_content
-- takes: id text, sentence text
update configuration_versions
set status = 'errored', error = 'ingress_error', error_message = :sentence
where id = any(array(select configuration_version_id from configuration_commits where content_id = :id))
    and status in ('pending', 'fetching');

-- statement: vcs_content_runs
-- The runs that wait for the content.
-- index: configuration_commits_content, run_inputs_configuration
-- takes: id text
-- gives: id text
select distinct r.id :contents_runs_of(:id) :contents_fetches() order by r.id;

-- shape: vcs_content_id
-- id text

-- statement: vcs_contents_lock_repositories
-- Locks the repositories of the connection: no content can be added to them until the transaction ends.
-- index: vcs_repositories_connection
-- takes: connection_id text
select 1 from vcs_repositories where connection_id = :connection_id order by id for update;

-- statement: vcs_contents_lock
-- Locks the contents of these repositories.
-- index: vcs_contents_commit, vcs_repositories_connection
-- takes: connection_id text
select 1
from vcs_contents
where repository_id = any(array(select id from vcs_repositories where connection_id = :connection_id))
order by id
for update;

-- statement: vcs_contents_awaited
-- The contents of these repositories that a run, a version of a policy set or one of a module waits for.
-- index: configuration_commits_content, policy_set_version_commits_content, registry_module_versions_content,
-- run_inputs_configuration, vcs_contents_commit, vcs_repositories_connection
-- takes: connection_id text
-- gives: vcs_content_id
select v.id
from vcs_contents v
where v.repository_id = any(array(select id from vcs_repositories where connection_id = :connection_id))
    and v.state <> 'stored' and :contents_needed(v.id)
order by v.id;

-- statement: vcs_contents_unused
-- Locks stored contents, at most :max, with an uploaded configuration version that no open run uses, or without
-- uploaded configuration versions.
-- index: configuration_versions_kept, run_inputs_configuration, vcs_contents_stored
-- takes: max bigint
-- gives: vcs_content_id
select v.id
from vcs_contents v
where v.state = 'stored'
    and (exists (
            select 1
            from configuration_commits k
            join configuration_versions c on c.id = k.configuration_version_id
            where k.content_id = v.id and c.status = 'uploaded' and not :configuration_in_use(c.id)
        ) or not exists (
            select 1
            from configuration_commits k
            join configuration_versions c on c.id = k.configuration_version_id
            where k.content_id = v.id and c.status = 'uploaded'
        ))
order by v.id
limit :max
for update of v skip locked;

-- statement: vcs_configurations_archive
-- Archives the configuration versions of these contents that no open run uses.
-- index: configuration_commits_content, configuration_versions_kept, run_inputs_configuration
-- takes: ids text[]
update configuration_versions c
set status = 'archived', blob_id = null,
    status_timestamps = c.status_timestamps || jsonb_build_object('archived-at', :sql_time(now()))
where c.id = any(
    array(select configuration_version_id from configuration_commits where content_id = any(:ids::text[])))
    and c.status = 'uploaded' and not :configuration_in_use(c.id);

-- statement: vcs_contents_archive
-- Removes the contents that no configuration version has or fetches.
-- index: configuration_commits_content
-- takes: ids text[]
update vcs_contents v
set state = 'absent', blob_id = null, stored_at = null
where v.id = any(:ids::text[])
    and not exists (
        select 1
        from configuration_commits k
        join configuration_versions c on c.id = k.configuration_version_id
        where k.content_id = v.id and c.status in ('uploaded', 'fetching')
    );

-- statement: vcs_fetches_unneeded
-- Locks contents, at most :max, which have a fetch that nothing waits for, and their fetches.
-- index: configuration_commits_content, git_jobs_fetch, policy_set_version_commits_content,
-- registry_module_versions_content, run_inputs_configuration
-- takes: like vcs_contents_unused
-- gives: vcs_content_id
select v.id
from git_jobs g
join vcs_contents v on v.id = g.content_id
where g.kind = 'fetch' and not :contents_needed(v.id)
order by v.id
limit :max
for update of v, g skip locked;

-- statement: vcs_fetches_delete
-- Deletes the fetches of these contents that nothing waits for.
-- index: configuration_commits_content, git_jobs_fetch, policy_set_version_commits_content,
-- registry_module_versions_content, run_inputs_configuration
-- takes: ids text[]
delete from git_jobs g
where g.kind = 'fetch' and g.content_id = any(:ids::text[]) and not :contents_needed(g.content_id);

-- statement: vcs_configurations_give_up
-- The configuration versions of these contents without a fetch no longer wait for one.
-- index: configuration_versions_fetching, git_jobs_fetch
-- takes: ids text[]
update configuration_versions c
set status = case when v.first_hash is null then 'pending' else 'archived' end
from configuration_commits k
join vcs_contents v on v.id = k.content_id
where k.configuration_version_id = c.id and k.content_id = any(:ids::text[]) and c.status = 'fetching'
    and not exists (select 1 from git_jobs g where g.kind = 'fetch' and g.content_id = k.content_id);

-- statement: vcs_fetches_missing
-- Contents, at most :max, which configuration versions wait for, and which have no fetch.
-- index: configuration_commits_content, configuration_versions_fetching, git_jobs_fetch,
-- run_inputs_configuration
-- takes: max bigint
-- gives: vcs_content_id
select v.id
from vcs_contents v
where v.id = any(array(
        select k.content_id
        from configuration_versions c
        join configuration_commits k on k.configuration_version_id = c.id
        where c.status = 'fetching'
    )) and v.state <> 'stored'
    and not exists (select 1 from git_jobs g where g.kind = 'fetch' and g.content_id = v.id)
    and :contents_needed(v.id)
limit :max;
