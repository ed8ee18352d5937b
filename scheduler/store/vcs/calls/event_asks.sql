-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_event_await_commit
-- Lets the event wait for its commit's hash.
-- index: vcs_events_pkey
-- takes: event_id text, max_seconds double precision
update vcs_events
set state = 'looking', due_at = now() + make_interval(secs => :max_seconds)
where id = :event_id;

-- statement: vcs_event_await_files
-- Lets the event wait for the files from the API. No row: it does not wait for them, or there is no API.
-- index: vcs_connections_pkey, vcs_events_pkey, vcs_repositories_pkey
-- takes: event_id text, why text, max_seconds double precision
-- gives: repository_id text null
update vcs_events e
set files_note = :why, due_at = now() + make_interval(secs => :max_seconds)
from vcs_repositories r
left join vcs_connections c on c.id = r.connection_id
where e.id = :event_id and e.state = 'comparing' and r.id = e.repository_id
    and c.provider is distinct from 'git'
returning e.repository_id;

-- statement: vcs_files_expire
-- Decides events without the files that the provider did not list.
-- index: vcs_events_open
update vcs_events
set state = 'waiting', due_at = now()
where state = 'comparing' and due_at <= now() and files_note is not null;

-- statement: vcs_commits_expire
-- Ends events whose commit the provider did not name.
-- index: vcs_events_commit
update vcs_events
set state = 'done', level = 'error', done_at = now(),
    message = 'The head commit of the pull request is not known: the provider did not answer.'
where state = 'looking' and due_at <= now() and sha = '' and pull_request is not null;
