-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_event_commits
-- The commits between which the files have changed, or the short hash of the head.
-- index: vcs_events_pkey, vcs_repositories_pkey
-- takes: event_id text
-- gives: sha text, before_sha text, pull_request bigint, state text, short_sha text null, base text,
-- default_branch text null
select e.sha, e.before_sha, coalesce(e.pull_request, 0) as pull_request, e.state,
    e.detail ->> 'short_sha' as short_sha, e.detail ->> 'base' as base, r.default_branch
from vcs_events e
join vcs_repositories r on r.id = e.repository_id
where e.id = :event_id;

-- statement: vcs_event_commit_found
-- Stores the commit, and lets the event be decided.
-- index: vcs_events_pkey
-- takes: event_id text, sha text, message text, author text
update vcs_events
set state = 'waiting', due_at = now(), sha = :sha,
    detail = detail || jsonb_strip_nulls(
        jsonb_build_object('message', :message::text, 'author', :author::text))
where id = :event_id and state = 'looking' and sha = '';

-- statement: vcs_event_files_found
-- Stores the changed files, or why they are not known, and lets the event be decided.
-- index: vcs_events_pkey
-- takes: event_id text, files jsonb, why text
update vcs_events
set state = 'waiting', due_at = now(), files = :files::jsonb, files_note = case
    when :files::jsonb is null then left(concat_ws(' ', files_note, :why::text), 2000) end
where id = :event_id and state = 'comparing';
