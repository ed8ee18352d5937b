-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_comment_renew
-- Creates the comment of the event's pull request, or a new version of it, unless a newer event has made one. A
-- pull request that affects no workspace gets none.
-- takes: event_id text
insert into vcs_comments as c(repository_id, pull_request, event_id)
select e.repository_id, e.pull_request, e.id
from vcs_events e
join vcs_repositories v on v.id = e.repository_id
left join vcs_connections k on k.id = v.connection_id
where e.id = :event_id and e.pull_request > 0 and k.provider is distinct from 'git'
    and (exists (
            select 1
            from vcs_outcomes u
            join runs n on n.id = u.run_id
            where u.event_id = e.id and not n.test
        )
            or exists (
                select 1
                from vcs_comments o
                where o.repository_id = e.repository_id and o.pull_request = e.pull_request
            ))
on conflict (repository_id, pull_request) do update set event_id = excluded.event_id,
    version = c.version + 1, error = null, due_at = greatest(c.due_at, now() + interval '2 seconds')
where coalesce((select sequence from vcs_events where id = c.event_id), 0) <= (
    select sequence from vcs_events where id = excluded.event_id
);

-- statement: vcs_comments_enqueue
-- Inserts the calls of comments that are due, at most :max. They wait until the end of the provider's pause.
-- index: vcs_comments_due
-- takes: like vcs_lookups_enqueue
:calls_insert({organization_id, connection_id, installation_id, repository_id, subject, due_at},
    {v.organization_id, v.connection_id, v.installation_id, v.id, c.pull_request::text,
        greatest(now(), coalesce(l.blocked_until, now()))
    from (
        select *
        from vcs_comments
        where sent_version < version and due_at <= now()
        order by due_at
        limit :max
    ) c
    join vcs_repositories v on v.id = c.repository_id
    left join vcs_limits l on l.owner_id = coalesce(v.connection_id, v.installation_id)});

-- statement: vcs_comment_lock
-- Locks the comment, and reads its newest event.
-- takes: repository_id text, number bigint
-- gives: repository_id text, pull_request bigint, marker text, external_id text null,
-- external_version bigint null, unsure boolean, event_id text null, version bigint, sent_version bigint,
-- due_at timestamptz, error text null, kind text, sha text, event_state text, organization text
select c.*, e.kind, e.sha, e.state as event_state, o.name as organization
from vcs_comments c
join vcs_repositories v on v.id = c.repository_id
join organizations o on o.id = v.organization_id
left join vcs_events e on e.id = c.event_id
where c.repository_id = :repository_id and c.pull_request = :number
for no key update of c;

-- statement: vcs_comment_runs
-- The newest run of each workspace for the head of the pull request. Failed ones come first. Tests of modules have
-- only a status.
-- index: vcs_events_commit
-- takes: repository_id text, pull_request bigint, first_error integer, sha text, max_rows bigint
-- gives: total bigint, workspace text, run text, status text, stage text, has_changes boolean,
-- additions integer null, changes integer null, destructions integer null, error text
select count(*) over () as total, w.name as workspace, n.id as run, n.status, n.stage, n.has_changes,
    p.additions, p.changes, p.destructions, left(i.error, :first_error) as error
from (
    select distinct on (n.workspace_id) n.*
    from vcs_events e
    join vcs_outcomes u on u.event_id = e.id
    join runs n on n.id = u.run_id
    where e.repository_id = :repository_id and e.pull_request = :pull_request and e.sha = :sha and not n.test
    order by n.workspace_id, n.position desc
) n
join workspaces w on w.id = n.workspace_id
join run_inputs i on i.run_id = n.id
left join operations p on p.id = 'plan' || substr(n.id, 4)
order by n.status <> 'errored', w.name
limit :max_rows;

-- statement: vcs_comment_unsure
-- From now on there may be a comment that is not known, until the answer is here.
-- index: vcs_comments_pkey
-- takes: repository_id text, number bigint
update vcs_comments
set unsure = true
where repository_id = :repository_id and pull_request = :number;

-- statement: vcs_comment_known
-- The comment is known; null: it is known that there is none.
-- index: vcs_comments_pkey
-- takes: repository_id text, pull_request bigint, external_id text, external_version bigint null
update vcs_comments
set external_id = :external_id, external_version = :external_version::bigint, unsure = false
where repository_id = :repository_id and pull_request = :pull_request;

-- statement: vcs_comment_sent
-- A version that was made meanwhile is sent 5 s later.
-- index: vcs_comments_pkey
-- takes: repository_id text, number bigint, version bigint
update vcs_comments
set sent_version = greatest(sent_version, :version), error = null, due_at = case
    when version > :version then now() + interval '5 seconds' else due_at end
where repository_id = :repository_id and pull_request = :number;

-- statement: vcs_comment_forget
-- The comment was deleted, or changed by others since: it is looked for again.
-- index: vcs_comments_pkey
-- takes: repository_id text, number bigint
update vcs_comments
set external_id = null, external_version = null, unsure = true
where repository_id = :repository_id and pull_request = :number;

-- statement: vcs_comment_refused
-- The provider refuses this version: only a new one is sent again.
-- index: vcs_comments_pkey
-- takes: repository_id text, number bigint, version bigint, why text
update vcs_comments
set sent_version = greatest(sent_version, :version), error = left(:why, 500)
where repository_id = :repository_id and pull_request = :number;
