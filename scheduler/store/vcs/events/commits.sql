-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_content_find
-- The content of the commit, locked against a change.
-- index: vcs_contents_commit
-- takes: repository_id text, sha text, submodules boolean, directory text
-- gives: id text, stored boolean
select id, state = 'stored' as stored
from vcs_contents
where repository_id = :repository_id and sha = :sha and submodules = :submodules
    and directory = :directory
for share;

-- statement: vcs_content_ensure
-- Inserts the content of the commit, unless it exists.
-- takes: new_id text, repository_id text, sha text, submodules boolean, directory text
insert into vcs_contents (id, repository_id, sha, submodules, directory)
values (:new_id, :repository_id, :sha, :submodules, :directory)
on conflict do nothing;

-- statement: vcs_configurations_insert
-- Inserts configuration versions. :versions: objects with id and workspace_id.
-- takes: versions jsonb, source text, speculative boolean, actor text
insert into configuration_versions (id, workspace_id, source, auto_queue_runs, speculative, created_by)
select u.id, u.workspace_id, :source, false, :speculative, :actor
from jsonb_to_recordset(:versions::jsonb) as u(id text, workspace_id text);

-- statement: vcs_configuration_commits_insert
-- Inserts the commit of new configuration versions. :versions: objects with id and content_id.
-- takes: versions jsonb, event_id text, sha text, branch text, tag text, pull_request bigint null, detail jsonb
insert into configuration_commits (
    configuration_version_id, id, content_id, event_id, sha, branch, tag, pull_request, is_pull_request,
        detail)
select u.id, 'ia' || substr(u.id, 3), u.content_id, :event_id, :sha, :branch, :tag, :pull_request,
    :pull_request::bigint is not null, :detail::jsonb
from jsonb_to_recordset(:versions::jsonb) as u(id text, content_id text);

-- statement: vcs_configurations_current
-- Makes the configuration versions the current ones of their workspaces, which it locks in the order of their
-- ids. :versions: objects with id and workspace_id.
-- index: workspaces_pkey
-- takes: versions jsonb
update workspaces w
set current_configuration_id = u.version
from (
    select w.id, u.id as version
    from jsonb_to_recordset(:versions::jsonb) as u(id text, workspace_id text)
    join workspaces w on w.id = u.workspace_id
    order by w.id
    for no key update of w
) u
where w.id = u.id;

-- statement: vcs_commit_describe_events
-- Stores the message and the author of a commit in its events that have no message.
-- index: vcs_events_commit
-- takes: repository_id text, sha text, message text, author text
update vcs_events
set detail = detail || jsonb_build_object('message', :message::text) || case when :author <> ''
    and coalesce(detail ->> 'author', '') = '' then jsonb_build_object('author', :author::text)
    else '{}' end
where repository_id = :repository_id and sha = :sha and coalesce(detail ->> 'message', '') = '';

-- statement: vcs_commit_describe_runs
-- A run's message is that of its commit, once it is known. Must run before the next statement.
-- index: configuration_commits_sha, run_inputs_configuration, vcs_contents_commit
-- takes: repository_id text, sha text, message text
update run_inputs i
set message = left(split_part(:message::text, E'\n', 1), 500)
from configuration_commits k
join vcs_contents v on v.id = k.content_id
where v.repository_id = :repository_id and k.sha = :sha
    and i.configuration_version_id = k.configuration_version_id
    and coalesce(k.detail ->> 'commit-message', '') = '' and i.source = 'tfe-configuration-version';

-- statement: vcs_commit_describe_configurations
-- Stores the message of a commit in its configuration versions that have none.
-- index: configuration_commits_sha, vcs_contents_commit
-- takes: repository_id text, sha text, message text
update configuration_commits k
set detail = k.detail || jsonb_build_object('commit-message', :message::text)
from vcs_contents v
where v.id = k.content_id and v.repository_id = :repository_id and k.sha = :sha
    and coalesce(k.detail ->> 'commit-message', '') = '';

-- shape: vcs_ingress
-- configuration_version_id text, id text, content_id text null, event_id text null, sha text, branch text,
-- tag text, pull_request bigint null, is_pull_request boolean, detail jsonb, repository text null,
-- created_by text null, workspace_id text

-- statement: vcs_ingress_read_all
-- Commits of configuration versions, by their ids.
-- index: configuration_commits_id_key
-- takes: ids text[]
-- gives: vcs_ingress
select k.*, r.identifier as repository, c.created_by, c.workspace_id
from configuration_commits k
join configuration_versions c on c.id = k.configuration_version_id
left join vcs_contents v on v.id = k.content_id
left join vcs_repositories r on r.id = v.repository_id
where k.id = any(:ids::text[]);

-- statement: vcs_policy_repository_read
-- The repository of a policy set.
-- index: policy_set_repositories_pkey, vcs_connections_pkey, vcs_repositories_pkey
-- takes: policy_set_id text, github_app_url text
-- gives: repository_id text, identifier text null, ingress_submodules boolean, provider text, api_url text,
-- http_url text
select a.repository_id, r.identifier, a.ingress_submodules, :vcs_dialect_columns(),
    coalesce(c.http_url, :github_app_url) as http_url
from policy_set_repositories a
join vcs_repositories r on r.id = a.repository_id
left join vcs_connections c on c.id = r.connection_id
where a.policy_set_id = :policy_set_id;

-- statement: vcs_policy_versions_insert
-- Inserts versions that wait for their content, as the newest of their policy sets. :versions: objects with id
-- and policy_set_id.
-- index: policy_sets_pkey
-- takes: versions jsonb, source text
with version as (
    insert into policy_set_versions (id, policy_set_id, status, source, status_timestamps)
    select u.id, u.policy_set_id, 'ingressing', :source,
        jsonb_build_object('pending-at', :sql_time(now())) || jsonb_build_object(
            'ingressing-at', :sql_time(now()))
    from jsonb_to_recordset(:versions::jsonb) as u(id text, policy_set_id text)
    returning id
)
update policy_sets s
set newest_version_id = u.id
from jsonb_to_recordset(:versions::jsonb) as u(id text, policy_set_id text)
where s.id = u.policy_set_id;

-- statement: vcs_policy_commits_insert
-- Inserts the commit of new versions. :versions: objects with id and content_id.
-- takes: versions jsonb, event_id text, sha text, detail jsonb
insert into policy_set_version_commits (policy_set_version_id, content_id, event_id, sha, detail)
select u.id, u.content_id, :event_id, :sha, :detail::jsonb
from jsonb_to_recordset(:versions::jsonb) as u(id text, content_id text);

-- statement: vcs_policy_versions_end
-- Ends the versions that wait for the content: ready with its blob, or errored with the sentence.
-- index: policy_set_version_commits_content
-- takes: content_id text, sentence text
update policy_set_versions p
set status = case when :sentence::text is null then 'ready' else 'errored' end, blob_id = case
    when :sentence::text is null then v.blob_id end, error = case
    when :sentence::text is not null then 'ingress_error' end, error_message = :sentence,
    status_timestamps = p.status_timestamps || case
    when :sentence::text is null then jsonb_build_object('ready-at', :sql_time(now()))
    else jsonb_build_object('errored-at', :sql_time(now())) end, updated_at = now()
from policy_set_version_commits k
join vcs_contents v on v.id = k.content_id
where k.content_id = :content_id and p.id = k.policy_set_version_id and p.status = 'ingressing';

-- statement: vcs_policy_sets_current
-- Makes the newest ready version the current one of the policy sets with that content. Nothing with a sentence.
-- index: policy_set_version_commits_content, policy_set_versions_set
-- takes: content_id text, sentence text
update policy_sets s
set current_version_id = (
    select id
    from policy_set_versions
    where policy_set_id = s.id and status = 'ready'
    order by created_at desc, id desc
    limit 1
)
where s.id = any(array(
        select p.policy_set_id
        from policy_set_version_commits k
        join policy_set_versions p on p.id = k.policy_set_version_id
        where k.content_id = :content_id
    )) and :sentence::text is null;
