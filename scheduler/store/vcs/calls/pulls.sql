-- SPDX-License-Identifier: MPL-2.0

-- statement: pulls_want
-- Refs do not show that a pull request was opened again. So a repository with a pull request that was closed
-- less than a week ago is read, too. Parameters: $1 the repository, $2 known_to, $3 read now, $6 the refs show
-- new pull requests. A read is old after $4 seconds, but not before $5 seconds for each repository of the
-- connection.
-- takes: id text, p2 bigint, p3 boolean, p4 bigint, p5 bigint, p6 boolean
insert into vcs_pull_reads as p(repository_id, known_to, due_at)
select r.id, :p2, now()
from vcs_repositories r
left join vcs_connections c on c.id = r.connection_id
left join vcs_pull_reads d on d.repository_id = r.id
where r.id = :id and c.provider is distinct from 'git'
    and exists (select 1 from workspace_repositories w where w.repository_id = r.id)
    and (d.repository_id is null or d.due_at is null
            and (:p3
                    or (not :p6
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
                    and coalesce(d.read_at < now() - make_interval(secs => greatest(:p4, :p5 * (
                                    select count(*)
                                    from vcs_repositories o
                                    where o.connection_id = r.connection_id
                                        or o.installation_id = r.installation_id
                                ))), true)))
on conflict (repository_id) do update set due_at = coalesce(p.due_at, excluded.due_at);

-- statement: pulls_enqueue
-- takes: purpose text, urgency smallint, writes boolean, limit bigint
with due as (
    update vcs_pull_reads
    set due_at = null
    where repository_id = any(array(
            select repository_id
            from vcs_pull_reads
            where due_at <= now()
            order by due_at
            limit :limit
            for update skip locked
        ))
    returning repository_id
) :calls_insert(
    {organization_id, connection_id, installation_id, repository_id},
    {v.organization_id, v.connection_id, v.installation_id, v.id
    from due d
    join vcs_repositories v on v.id = d.repository_id});

-- statement: vcs_pulls_prepare
-- gives: now timestamptz
select now() as now;

-- statement: vcs_pulls_known_to
-- takes: repository_id text
-- gives: known_to bigint null
select known_to from vcs_pull_reads where repository_id = :repository_id;

-- statement: vcs_pulls_known
-- takes: repository_id text, p2 jsonb, began timestamptz
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
from jsonb_array_elements_text(:p2::jsonb)
with ordinality as n(value, place)
left join vcs_pull_requests q on q.repository_id = :repository_id and q.number = n.value::bigint
order by n.place;

-- statement: vcs_pulls_unlisted
-- takes: repository_id text, p2 jsonb, began timestamptz, max_asked bigint
-- gives: number bigint
select number
from vcs_pull_requests
where repository_id = :repository_id and state = 'open' and updated_at < :began::timestamptz
    and number not in (select value::bigint from jsonb_array_elements_text(:p2::jsonb))
order by updated_at
limit :max_asked;

-- statement: vcs_pulls_read_end
-- takes: repository_id text, top bigint
update vcs_pull_reads
set read_at = now(), known_to = coalesce(known_to, :top)
where repository_id = :repository_id;
