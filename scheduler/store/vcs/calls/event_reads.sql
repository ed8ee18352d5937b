-- SPDX-License-Identifier: MPL-2.0

-- statement: event_read
-- takes: subject text
-- gives: sha text, before_sha text, pull_request bigint, state text, short_sha text null, base text,
-- default_branch text null
select e.sha, e.before_sha, coalesce(e.pull_request, 0) as pull_request, e.state,
    e.detail ->> 'short_sha' as short_sha, e.detail ->> 'base' as base, r.default_branch
from vcs_events e
join vcs_repositories r on r.id = e.repository_id
where e.id = :subject;

-- statement: vcs_commit_step
-- takes: subject text, sha text, json_string_at text, json_string_at_2 text
update vcs_events
set state = 'waiting', due_at = now(), sha = :sha,
    detail = detail || jsonb_strip_nulls(
        jsonb_build_object('message', :json_string_at::text, 'author', :json_string_at_2::text))
where id = :subject and state = 'looking' and sha = '';

-- statement: files_end
-- takes: subject text, files jsonb, why text
update vcs_events
set state = 'waiting', due_at = now(), files = :files::jsonb, files_note = case
    when :files::jsonb is null then left(concat_ws(' ', files_note, :why::text), 2000) end
where id = :subject and state = 'comparing';
