-- SPDX-License-Identifier: MPL-2.0

-- statement: commits_content_read
-- takes: repository_id text, sha text, submodules boolean
-- gives: id text, stored boolean
select id, state = 'stored' as stored
from vcs_contents
where repository_id = :repository_id and sha = :sha and submodules = :submodules
for share;

-- statement: vcs_content_of
-- takes: new_id text, repository_id text, sha text, submodules boolean
insert into vcs_contents (id, repository_id, sha, submodules)
values (:new_id, :repository_id, :sha, :submodules)
on conflict do nothing;

-- statement: vcs_configurations_create_insert
-- takes: p1 jsonb, source text, pull_request boolean, actor text
insert into configuration_versions (id, workspace_id, source, auto_queue_runs, speculative, created_by)
select u.id, u.workspace_id, :source, false, :pull_request, :actor
from jsonb_to_recordset(:p1::jsonb) as u(id text, workspace_id text);

-- statement: vcs_configurations_create_insert_2
-- takes: p1 jsonb, event_id text, sha text, branch text, tag text, pull_request bigint, detail jsonb
insert into configuration_commits (
    configuration_version_id, id, content_id, event_id, sha, branch, tag, pull_request, is_pull_request,
        detail)
select u.id, 'ia' || substr(u.id, 3), u.content_id, :event_id, :sha, :branch, :tag, :pull_request,
    :pull_request::bigint is not null, :detail::jsonb
from jsonb_to_recordset(:p1::jsonb) as u(id text, content_id text);

-- statement: vcs_configurations_create_update
-- takes: p1 jsonb
update workspaces w
set current_configuration_id = u.version
from (
    select w.id, u.id as version
    from jsonb_to_recordset(:p1::jsonb) as u(id text, workspace_id text)
    join workspaces w on w.id = u.workspace_id
    order by w.id
    for no key update of w
) u
where w.id = u.id;

-- statement: vcs_commit_describe_update
-- takes: repository_id text, sha text, message text, json_string_at text
update vcs_events
set detail = detail || jsonb_build_object('message', :message::text) || case when :json_string_at <> ''
    and coalesce(detail ->> 'author', '') = '' then jsonb_build_object('author', :json_string_at::text)
    else '{}' end
where repository_id = :repository_id and sha = :sha and coalesce(detail ->> 'message', '') = '';

-- statement: vcs_commit_describe_update_2
-- takes: repository_id text, sha text, message text
update run_inputs i
set message = left(split_part(:message::text, E'\n', 1), 500)
from configuration_commits k
join vcs_contents v on v.id = k.content_id
where v.repository_id = :repository_id and k.sha = :sha
    and i.configuration_version_id = k.configuration_version_id
    and coalesce(k.detail ->> 'commit-message', '') = '' and i.source = 'tfe-configuration-version';

-- statement: vcs_commit_describe_update_3
-- takes: repository_id text, sha text, message text
update configuration_commits k
set detail = k.detail || jsonb_build_object('commit-message', :message::text)
from vcs_contents v
where v.id = k.content_id and v.repository_id = :repository_id and k.sha = :sha
    and coalesce(k.detail ->> 'commit-message', '') = '';

-- statement: vcs_ingress_read_all
-- takes: ids text[]
-- gives: configuration_version_id text, id text, content_id text null, event_id text null, sha text,
-- branch text, tag text, pull_request bigint null, is_pull_request boolean, detail jsonb, repository text,
-- created_by text null, workspace_id text
select k.*, r.identifier as repository, c.created_by, c.workspace_id
from configuration_commits k
join configuration_versions c on c.id = k.configuration_version_id
left join vcs_contents v on v.id = k.content_id
left join vcs_repositories r on r.id = v.repository_id
where k.id = any(:ids::text[]);

-- statement: vcs_policy_repository_read
-- takes: policy_set_id text, github_app_url text
-- gives: repository_id text, identifier text null, ingress_submodules boolean, provider text, api_url text,
-- http_url text
select a.repository_id, r.identifier, a.ingress_submodules, :vcs_dialect_columns(),
    coalesce(c.http_url, :github_app_url) as http_url
from policy_set_repositories a
join vcs_repositories r on r.id = a.repository_id
left join vcs_connections c on c.id = r.connection_id
where a.policy_set_id = :policy_set_id;

-- statement: commits_versions
-- takes: p1 jsonb, source text
with version as (
    insert into policy_set_versions (id, policy_set_id, status, source, status_timestamps)
    select u.id, u.policy_set_id, 'ingressing', :source,
        jsonb_build_object('pending-at', :sql_time(now())) || jsonb_build_object(
            'ingressing-at', :sql_time(now()))
    from jsonb_to_recordset(:p1::jsonb) as u(id text, policy_set_id text)
    returning id
)
update policy_sets s
set newest_version_id = u.id
from jsonb_to_recordset(:p1::jsonb) as u(id text, policy_set_id text)
where s.id = u.policy_set_id;

-- statement: vcs_policy_versions_create_insert
-- takes: p1 jsonb, event_id text, sha text, detail jsonb
insert into policy_set_version_commits (policy_set_version_id, content_id, event_id, sha, detail)
select u.id, u.content_id, :event_id, :sha, :detail::jsonb
from jsonb_to_recordset(:p1::jsonb) as u(id text, content_id text);

-- statement: commits_ended
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

-- statement: vcs_policy_versions_end_update
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
