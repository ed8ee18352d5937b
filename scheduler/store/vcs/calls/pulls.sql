-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_pulls_want
-- Makes a read of the repository's pull requests due: with :now, or if the last one is old. A read is old after
-- :old_s seconds, but not before :repository_s seconds for each repository of the connection. :in_refs: the
-- refs show new pull requests. They do not show that one was opened again, so a repository with a pull request
-- that was closed less than a week ago is read, too.
-- index: vcs_pull_requests_state, vcs_repositories_connection, vcs_repositories_owner,
-- workspace_repositories_repository
-- takes: repository_id text, known_to bigint null, now boolean, old_s bigint, repository_s bigint,
-- in_refs boolean
insert into vcs_pull_reads as p(repository_id, known_to, due_at)
select r.id, :known_to, now()
from vcs_repositories r
left join vcs_connections c on c.id = r.connection_id
left join vcs_pull_reads d on d.repository_id = r.id
where r.id = :repository_id and c.provider is distinct from 'git'
    and exists (select 1 from workspace_repositories w where w.repository_id = r.id)
    and (d.repository_id is null or d.due_at is null
            and (:now
                    or (not :in_refs
                            or exists (
                                select 1
                                from vcs_pull_requests q
                                where q.repository_id = r.id and q.state = 'open'
                            )
                            or exists (
                                select 1
                                from vcs_pull_requests q
                                where q.repository_id = r.id and q.state = 'closed'
                                    and q.updated_at > now() - interval '7 days'
                            ))
                    and coalesce(d.read_at < now() - make_interval(secs => greatest(:old_s, :repository_s * (
                                    select count(*)
                                    from vcs_repositories o
                                    where o.connection_id = r.connection_id
                                        or o.installation_id = r.installation_id
                                ))), true)))
on conflict (repository_id) do update set due_at = coalesce(p.due_at, excluded.due_at);

-- statement: vcs_pulls_enqueue
-- Inserts the calls of reads that are due, at most :max.
-- index: vcs_pull_reads_due
-- takes: like vcs_lookups_enqueue
with due as (
    update vcs_pull_reads
    set due_at = null
    where repository_id = any(array(
            select repository_id
            from vcs_pull_reads
            where due_at <= now()
            order by due_at
            limit :max
            for update skip locked
        ))
    returning repository_id
)
:calls_insert({organization_id, connection_id, installation_id, repository_id},
    {v.organization_id, v.connection_id, v.installation_id, v.id
    from due d
    join vcs_repositories v on v.id = d.repository_id});

-- statement: vcs_pulls_now
-- The time of the first step of a read.
-- gives: now timestamptz
select now() as now;

-- statement: vcs_pulls_known_to
-- The largest number of the pull requests that are older than the connection; null: not known.
-- index: vcs_pull_reads_pkey
-- takes: repository_id text
-- gives: known_to bigint null
select known_to from vcs_pull_reads where repository_id = :repository_id;

-- statement: vcs_pulls_known
-- A row for each number, in their order. Without a head the pull request is not known. settled: it has not
-- changed since :began, and has no event that waits.
-- index: vcs_events_commit, vcs_pull_requests_state
-- takes: repository_id text, numbers jsonb, began timestamptz
-- gives: number bigint, head_sha text null, state text, detail jsonb, settled boolean
with open as materialized (
    select pull_request
    from vcs_events
    where repository_id = :repository_id and state in ('waiting', 'looking', 'comparing')
        and pull_request is not null
)
select n.value::bigint as number, q.head_sha, q.state, q.detail,
    coalesce(q.updated_at < :began::timestamptz, true)
    and n.value::bigint not in (select pull_request from open) as settled
from jsonb_array_elements_text(:numbers::jsonb)
with ordinality as n(value, place)
left join vcs_pull_requests q on q.repository_id = :repository_id and q.number = n.value::bigint
order by n.place;

-- statement: vcs_pulls_unlisted
-- Open pull requests that have not changed since :began, and are not in :seen.
-- index: vcs_pull_requests_state
-- takes: repository_id text, seen jsonb, began timestamptz, max bigint
-- gives: number bigint
select number
from vcs_pull_requests
where repository_id = :repository_id and state = 'open' and updated_at < :began::timestamptz
    and number not in (select value::bigint from jsonb_array_elements_text(:seen::jsonb))
order by updated_at
limit :max;

-- statement: vcs_pulls_read_end
-- The list was read to its end. :top is its largest number.
-- index: vcs_pull_reads_pkey
-- takes: repository_id text, top bigint
update vcs_pull_reads
set read_at = now(), known_to = coalesce(known_to, :top)
where repository_id = :repository_id;
