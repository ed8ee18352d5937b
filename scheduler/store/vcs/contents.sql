-- SPDX-License-Identifier: MPL-2.0

-- fragment: contents_runs_of(v)
-- The runs of the content `v` that have not ended, as r: found by configuration_commits_content and
-- run_inputs_configuration.
from configuration_commits k
join run_inputs i on i.configuration_version_id = k.configuration_version_id
join runs r on r.id = i.run_id
where k.content_id = :v and not r.ended;

-- fragment: contents_fetches()
and r.stages & 1 <> 0 and r.status in ('pending', 'fetching');

-- fragment: contents_needed(v)
(exists (select 1 :contents_runs_of(:v) :contents_fetches())
        or exists (
            select 1
            from policy_set_version_commits p
            join policy_set_versions s on s.id = p.policy_set_version_id
            where p.content_id = :v and s.status = 'ingressing'
        ));

-- statement: vcs_contents_share
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
-- takes: ids text[]
-- gives: id text, stored boolean
select id, state = 'stored' as stored
from vcs_contents
where id = any(:ids::text[])
order by id
for share;

-- statement: vcs_contents_fetch
-- takes: configuration_ids text[]
-- gives: content_id text null
with
set as (
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
-- takes: configuration_ids text[]
update configuration_versions c
set status = 'uploaded', blob_id = v.blob_id, error = null, error_message = null,
    status_timestamps = c.status_timestamps || jsonb_build_object('finished-at', :sql_time(now()))
from configuration_commits k
join vcs_contents v on v.id = k.content_id and v.state = 'stored'
where k.configuration_version_id = any(:configuration_ids::text[]) and k.configuration_version_id = c.id
    and c.id = any(:configuration_ids::text[])
    and c.status in ('pending', 'fetching', 'archived', 'errored');

-- statement: configurations_store
-- takes: id text, blob_id text
update configuration_versions
set status = 'uploaded', blob_id = :blob_id, error = null, error_message = null,
    status_timestamps = status_timestamps || jsonb_build_object('finished-at', :sql_time(now()))
where id = any(array(select configuration_version_id from configuration_commits where content_id = :id))
    and status in ('pending', 'fetching');

-- statement: vcs_content_store
-- takes: id text, blob_id text, hash text, size bigint
-- gives: differs boolean
update vcs_contents
set state = 'stored', blob_id = :blob_id, hash = :hash, first_hash = coalesce(first_hash, :hash),
    size = :size, error = null, stored_at = now()
where id = :id
returning first_hash <> :hash as differs;

-- statement: vcs_content_fail_update
-- takes: id text, sentence text
-- gives: id text
update vcs_contents
set state = 'errored', error = :sentence
where id = :id and state <> 'stored'
returning id;

-- statement: vcs_content_fail_update_2
-- takes: id text, sentence text
update configuration_versions
set status = 'errored', error = 'ingress_error', error_message = :sentence
where id = any(array(select configuration_version_id from configuration_commits where content_id = :id))
    and status in ('pending', 'fetching');

-- statement: vcs_content_runs
-- takes: id text
-- gives: id text
select distinct r.id :contents_runs_of(:id) :contents_fetches() order by r.id;

-- statement: contents_archive_update
-- takes: ids text[]
update configuration_versions c
set status = 'archived', blob_id = null,
    status_timestamps = c.status_timestamps || jsonb_build_object('archived-at', :sql_time(now()))
where c.id = any(
    array(select configuration_version_id from configuration_commits where content_id = any(:ids::text[])))
    and c.status = 'uploaded'
    and not exists (
        select 1
        from run_inputs i
        join runs r on r.id = i.run_id
        where i.configuration_version_id = c.id and not r.ended
    );

-- statement: contents_archive_update_2
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

-- statement: contents_give_up_delete
-- takes: ids text[]
delete from git_jobs g
where g.kind = 'fetch' and g.content_id = any(:ids::text[]) and not :contents_needed(g.content_id);

-- statement: contents_give_up_update
-- takes: ids text[]
update configuration_versions c
set status = case when v.first_hash is null then 'pending' else 'archived' end
from configuration_commits k
join vcs_contents v on v.id = k.content_id
where k.configuration_version_id = c.id and k.content_id = any(:ids::text[]) and c.status = 'fetching'
    and not exists (select 1 from git_jobs g where g.kind = 'fetch' and g.content_id = k.content_id);

-- statement: jobs_restore
-- takes: max_swept bigint
-- gives: id text
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
limit :max_swept;
