-- SPDX-License-Identifier: MPL-2.0

-- fragment: vcs_event_columns()
e.id as event_id, e.state, e.found_by, e.kind, e.ref, e.before_sha, e.sha, e.pull_request, e.detail,
    e.files, e.files_note;

-- statement: vcs_event_request
-- Inserts an event of a user, which waits for a look.
-- index: vcs_repositories_pkey
-- takes: id text, repository_id text, sha text, detail jsonb
insert into vcs_events
    (id, organization_id, connection_id, repository_id, found_by, kind, sha, detail, state)
select :id, r.organization_id, r.connection_id, r.id, 'request', 'push', coalesce(:sha, ''),
    :detail::jsonb, 'looking'
from vcs_repositories r
where r.id = :repository_id;

-- statement: vcs_events_insert
-- Inserts events that wait, in their order. Each repository is one lookup by the primary key.
-- index: vcs_repositories_pkey
-- takes: rows jsonb
insert into vcs_events (
    id, organization_id, connection_id, repository_id, delivery, found_by, kind, ref, before_sha, sha,
        pull_request, detail, files)
select u.id, r.organization_id, r.connection_id, u.repository_id, u.delivery, u.found_by, u.kind, u.ref,
    u.before_sha, u.sha, u.pull_request, u.detail, u.files
from rows from (jsonb_to_recordset(:rows::jsonb) as (
        id text, repository_id text, delivery bigint, found_by text, kind text, ref text, before_sha text,
            sha text, pull_request bigint, detail jsonb, files jsonb))
with ordinality as u(id, repository_id, delivery, found_by, kind, ref, before_sha, sha, pull_request, detail, files, n),
lateral (select organization_id, connection_id from vcs_repositories where id = u.repository_id limit 1) r
order by u.n;

-- statement: vcs_event_tell
-- Inserts an event that is done and only has a message.
-- index: vcs_repositories_pkey
-- takes: new_id text, repository_id text, delivery bigint null, found_by text, kind text, level text,
-- message text
insert into vcs_events (
    id, organization_id, connection_id, repository_id, delivery, found_by, kind, state, level, message,
        done_at)
select :new_id, r.organization_id, r.connection_id, r.id, :delivery, :found_by, :kind, 'done', :level,
    left(:message, 1000), now()
from vcs_repositories r
where r.id = :repository_id;

-- statement: vcs_event_turns
-- Reads :max repositories with due events, in the order of their turns. The recursion jumps from repository to
-- repository in the index vcs_events_waiting. It reads all repositories with waiting events, so its result
-- serves for several events. In each round all organizations have one turn, so an organization with many events
-- does not delay others. A repository has more than one turn if its organization has few. The limits keep the
-- planner from joining all events that wait.
-- index: vcs_events_waiting
-- takes: max integer
-- gives: repository_id text, organization_id text
with recursive waiting as (
    (
        select organization_id, repository_id
        from vcs_events
        where state = 'waiting'
        order by organization_id, repository_id
        limit 1
    )
    union all
    select n.organization_id, n.repository_id
    from waiting w,
        lateral (
            select organization_id, repository_id
            from vcs_events
            where state = 'waiting'
                and (organization_id, repository_id) > (w.organization_id, w.repository_id)
            order by organization_id, repository_id
            limit 1
        ) n
),
ranked as (
    select repository_id, organization_id, random() as place,
        row_number() over (partition by organization_id order by random()) - 1 as number,
        count(*) over (partition by organization_id) as repositories
    from waiting w,
        lateral (
            select 1
            from vcs_events e
            where e.organization_id = w.organization_id and e.repository_id = w.repository_id
                and e.state = 'waiting' and e.due_at <= now()
            order by e.organization_id, e.repository_id, e.sequence
            limit 1
        ) due
)
select k.repository_id, k.organization_id
from generate_series(0, :max - 1) round
join ranked k on k.number = round % k.repositories
order by round, k.place
limit :max;

-- statement: vcs_repository_try_lock
-- No row: another transaction has locked the repository, or it was deleted.
-- index: vcs_repositories_pkey
-- takes: repository_id text
-- gives: id text
select id from vcs_repositories where id = :repository_id for no key update skip locked;

-- statement: vcs_event_pick
-- The first due event of a repository, and its repository. Without a repository, no row.
-- index: vcs_events_waiting
-- takes: repository_id text, app_url text, organization_id text
-- gives: event_id text, state text, found_by text, kind text, ref text, before_sha text, sha text,
-- pull_request bigint null, detail jsonb, files jsonb null, files_note text null, repository_id text,
-- organization_id text, identifier text null, default_branch text null, looked_at timestamptz null,
-- provider text, api_url text, http_url text
select :vcs_event_columns(), r.id as repository_id, r.organization_id, r.identifier, r.default_branch,
    r.looked_at, :vcs_dialect_columns(), coalesce(c.http_url, :app_url) as http_url
from vcs_events e
join vcs_repositories r on r.id = e.repository_id
left join vcs_connections c on c.id = r.connection_id
where e.organization_id = :organization_id and e.repository_id = :repository_id and e.state = 'waiting'
    and e.due_at <= now()
order by e.sequence
limit 1;

-- statement: vcs_events_looking
-- Locks the events that waited for a look when it began, but for those that wait for the hash of their commit.
-- index: vcs_events_repository
-- takes: repository_id text, began timestamptz
-- gives: event_id text, state text, found_by text, kind text, ref text, before_sha text, sha text,
-- pull_request bigint null, detail jsonb, files jsonb null, files_note text null
select :vcs_event_columns()
from vcs_events e
where e.repository_id = :repository_id and e.state = 'looking' and e.due_at < :began::timestamptz
    and (e.sha <> '' or e.pull_request is null)
order by e.sequence
for update;

-- statement: vcs_event_look
-- Lets the event wait for a look.
-- index: vcs_events_pkey
-- takes: id text
update vcs_events set state = 'looking', due_at = now() where id = :id;

-- statement: vcs_event_compare
-- Lets the event wait for the changed files.
-- index: vcs_events_pkey
-- takes: id text
update vcs_events set state = 'comparing' where id = :id;

-- statement: vcs_event_looked
-- Lets the event be decided after a look. With another commit, the detail loses the members of the earlier one.
-- index: vcs_events_pkey
-- takes: id text, ref text, sha text
update vcs_events
set state = 'waiting', due_at = now(), ref = coalesce(:ref, ref), sha = coalesce(:sha, sha),
    detail = (case when :sha::text is null then detail
            else detail - '{message,author,commit_url,compare_url}'::text[] end) || '{"looked": true}'
where id = :id;

-- statement: vcs_event_compared
-- Stores the changed files, or why they are not known, and lets the event be decided.
-- index: vcs_events_pkey
-- takes: id text, files jsonb, note text
update vcs_events
set state = 'waiting', due_at = now(), files = :files::jsonb, files_note = :note
where id = :id and state = 'comparing';

-- statement: vcs_event_end
-- Ends the event, or lets it wait for an approval.
-- index: vcs_events_pkey
-- takes: id text, message text, is_error boolean, approval boolean
update vcs_events
set state = case when :approval then 'approval' else 'done' end, done_at = case
    when not :approval then now() end, message = :message, level = case when :is_error then 'error'
    else 'info' end
where id = :id;

-- statement: vcs_event_unanswered
-- Shows why the look failed for which the event waits.
-- index: vcs_events_pkey
-- takes: id text, why text
update vcs_events set message = :why, level = 'error' where id = :id and state = 'looking';

-- statement: vcs_event_postpone
-- Decides the event again later, after a failure.
-- index: vcs_events_pkey
-- takes: id text, why text, postponed_seconds double precision
update vcs_events
set due_at = now() + make_interval(secs => :postponed_seconds), message = :why, level = 'error'
where id = :id and state = 'waiting';

-- statement: vcs_next_due
-- Milliseconds until the next event, delivery, look, read of pull requests, module or test of a version is due; null:
-- none.
-- index: policy_set_repositories_repository, registry_module_versions_untested, registry_modules_repository,
-- registry_modules_tags_due, vcs_deliveries_waiting, vcs_events_open, vcs_pull_reads_due, vcs_repositories_look,
-- workspace_repositories_repository
-- gives: ms bigint null
select ceil(
    1000 * extract(epoch from least((select min(due_at) from vcs_deliveries where state = 'waiting'),
                (select min(due_at) from vcs_events where state = 'waiting'),
                (select min(due_at) from vcs_pull_reads),
                (select now() from registry_modules where tags_due limit 1),
                (
                    select now()
                    from registry_module_versions
                    where status = 'reg_ingressing' and test_run_id is null
                    limit 1
                ),
                (
                    select r.look_due
                    from vcs_repositories r
                    where :repository_is_used(r)
                    order by r.look_due
                    limit 1
                )) - now()))::bigint as ms;

-- statement: vcs_deliveries_expire
-- Deletes deliveries that are older than 30 days.
-- index: vcs_deliveries_received
-- takes: max bigint
delete from vcs_deliveries
where sequence = any(array(
        select sequence
        from vcs_deliveries
        where received_at < now() - interval '30 days'
        order by received_at
        limit :max
    ));

-- statement: vcs_events_expire
-- Deletes events that ended more than 30 days ago.
-- index: vcs_events_created
-- takes: max bigint
delete from vcs_events
where id = any(array(
        select id
        from vcs_events
        where created_at < now() - interval '30 days'
        order by created_at
        limit :max
    ));
