-- SPDX-License-Identifier: MPL-2.0

-- fragment: events_event_columns()
e.id as event_id, e.state, e.found_by, e.kind, e.ref, e.before_sha, e.sha, e.pull_request, e.detail,
    e.files, e.files_note;

-- statement: vcs_event_request
-- takes: id text, repository_id text, sha text, detail jsonb
insert into vcs_events
    (id, organization_id, connection_id, repository_id, found_by, kind, sha, detail, state)
select :id, r.organization_id, r.connection_id, r.id, 'request', 'push', coalesce(:sha, ''),
    :detail::jsonb, 'looking'
from vcs_repositories r
where r.id = :repository_id;

-- statement: events_insert
-- Each repository is one lookup by the primary key.
-- takes: p1 jsonb
insert into vcs_events (
    id, organization_id, connection_id, repository_id, delivery, found_by, kind, ref, before_sha, sha,
        pull_request, detail, files)
select u.id, r.organization_id, r.connection_id, u.repository_id, u.delivery, u.found_by, u.kind, u.ref,
    u.before_sha, u.sha, u.pull_request, u.detail, u.files
from rows
from (jsonb_to_recordset(:p1::jsonb) as (
        id text, repository_id text, delivery bigint, found_by text, kind text, ref text, before_sha text,
            sha text, pull_request bigint, detail jsonb, files jsonb))
with ordinality as u(id, repository_id, delivery, found_by, kind, ref, before_sha, sha, pull_request, detail, files, n),
lateral (select organization_id, connection_id from vcs_repositories where id = u.repository_id limit 1) r
order by u.n;

-- statement: vcs_event_tell
-- takes: id text, id_2 text, delivery bigint, found_by text, kind text, level text, p7 text
insert into vcs_events (
    id, organization_id, connection_id, repository_id, delivery, found_by, kind, state, level, message,
        done_at)
select :id, r.organization_id, r.connection_id, r.id, :delivery, :found_by, :kind, 'done', :level,
    left(:p7, 1000), now()
from vcs_repositories r
where r.id = :id_2;

-- statement: events_turns
-- Reads $1 repositories with due events, in the order of their turns. The recursion jumps from repository to
-- repository in the index vcs_events_waiting. It reads all repositories with waiting events, so its result
-- serves for several events. In each round all organizations have one turn, so an organization with many events
-- does not delay others. A repository has more than one turn if its organization has few. The limits keep the
-- planner from joining all events that wait.
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

-- statement: vcs_event_pick_lock
-- takes: repository_id text
-- gives: id text
select id from vcs_repositories where id = :repository_id for no key update skip locked;

-- statement: vcs_event_pick_read
-- takes: count text null, github_app_url text, organization_id text
-- gives: event_id text, state text, found_by text, kind text, ref text, before_sha text, sha text,
-- pull_request bigint null, detail jsonb, files jsonb null, files_note text null, repository_id text,
-- organization_id text, identifier text null, default_branch text null, looked_at timestamptz null,
-- provider text, api_url text, http_url text
select :events_event_columns(), r.id as repository_id, r.organization_id, r.identifier, r.default_branch,
    r.looked_at, :vcs_dialect_columns(), coalesce(c.http_url, :github_app_url) as http_url
from vcs_events e
join vcs_repositories r on r.id = e.repository_id
left join vcs_connections c on c.id = r.connection_id
where e.organization_id = :organization_id and e.repository_id = :count and e.state = 'waiting'
    and e.due_at <= now()
order by e.sequence
limit 1;

-- statement: vcs_events_looking
-- takes: repository_id text, began timestamptz
-- gives: event_id text, state text, found_by text, kind text, ref text, before_sha text, sha text,
-- pull_request bigint null, detail jsonb, files jsonb null, files_note text null
select :events_event_columns()
from vcs_events e
where e.repository_id = :repository_id and e.state = 'looking' and e.due_at < :began::timestamptz
    and (e.sha <> '' or e.pull_request is null)
order by e.sequence
for update;

-- statement: vcs_event_look
-- takes: id text
update vcs_events set state = 'looking', due_at = now() where id = :id;

-- statement: vcs_event_compare
-- takes: id text
update vcs_events set state = 'comparing' where id = :id;

-- statement: vcs_event_looked
-- takes: id text, ref text, sha text
update vcs_events
set state = 'waiting', due_at = now(), ref = coalesce(:ref, ref), sha = coalesce(:sha, sha),
    detail = (case when :sha::text is null then detail
            else detail - '{message,author,commit_url,compare_url}'::text[] end) || '{"looked": true}'
where id = :id;

-- statement: vcs_event_compared
-- takes: id text, files jsonb, note text
update vcs_events
set state = 'waiting', due_at = now(), files = :files::jsonb, files_note = :note
where id = :id and state = 'comparing';

-- statement: vcs_event_end
-- takes: id text, message text, is_error boolean, approval boolean
update vcs_events
set state = case when :approval then 'approval' else 'done' end, done_at = case
    when not :approval then now() end, message = :message, level = case when :is_error then 'error'
    else 'info' end
where id = :id;

-- statement: vcs_event_unanswered
-- takes: id text, why text
update vcs_events set message = :why, level = 'error' where id = :id and state = 'looking';

-- statement: vcs_event_postpone
-- takes: id text, why text, postponed_seconds double precision
update vcs_events
set due_at = now() + make_interval(secs => :postponed_seconds), message = :why, level = 'error'
where id = :id and state = 'waiting';

-- statement: events_next
-- gives: ms bigint null
select ceil(
    1000 * extract(epoch from least((select min(due_at) from vcs_deliveries where state = 'waiting'),
                (select min(due_at) from vcs_events where state = 'waiting'),
                (select min(due_at) from vcs_pull_reads),
                (
                    select r.look_due
                    from vcs_repositories r
                    where :repository_is_used(r)
                    order by r.look_due
                    limit 1
                )) - now()))::bigint as ms;

-- statement: vcs_events_expire_delete
-- takes: max_expired bigint
delete from vcs_deliveries
where sequence = any(array(
        select sequence
        from vcs_deliveries
        where received_at < now() - interval '30 days'
        order by received_at
        limit :max_expired
    ));

-- statement: vcs_events_expire_delete_2
-- takes: max_expired bigint
delete from vcs_events
where id = any(array(
        select id
        from vcs_events
        where created_at < now() - interval '30 days'
        order by created_at
        limit :max_expired
    ));
