-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_commit_ask
-- takes: event_id text, commit_seconds double precision
update vcs_events
set state = 'looking', due_at = now() + make_interval(secs => :commit_seconds)
where id = :event_id;

-- statement: vcs_files_ask
-- takes: event_id text, why text, files_seconds double precision
-- gives: repository_id text null
update vcs_events e
set files_note = :why, due_at = now() + make_interval(secs => :files_seconds)
from vcs_repositories r
left join vcs_connections c on c.id = r.connection_id
where e.id = :event_id and e.state = 'comparing' and r.id = e.repository_id
    and c.provider is distinct from 'git'
returning e.repository_id;

-- statement: vcs_event_reads_expire_update
update vcs_events
set state = 'waiting', due_at = now()
where state = 'comparing' and due_at <= now() and files_note is not null;

-- statement: vcs_event_reads_expire_update_2
update vcs_events
set state = 'done', level = 'error', done_at = now(),
    message = 'The head commit of the pull request is not known: the provider did not answer.'
where state = 'looking' and due_at <= now() and sha = '' and pull_request is not null;
