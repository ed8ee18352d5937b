-- SPDX-License-Identifier: MPL-2.0

-- statement: renewals_announce
-- Wakes the renewers. PostgreSQL joins equal notices of a transaction.
select pg_notify('runyard_renewals', '');

-- statement: renewal_plan_token_delete
-- Renews the connection's token no longer: it does not expire.
-- index: vcs_renewals_token_id_key, vcs_tokens_connection_id_key
-- takes: connection_id text
delete from vcs_renewals where token_id = (select id from vcs_tokens where connection_id = :connection_id);

-- statement: renewal_plan_token_insert
-- Plans the renewal of the connection's token after three quarters of its life. A new generation ends a renewal
-- that is under way.
-- index: vcs_tokens_connection_id_key
-- takes: connection_id text, expires_in bigint
insert into vcs_renewals as r(token_id, due_at)
select id, now() + make_interval(secs => :expires_in::bigint * 0.75)
from vcs_tokens
where connection_id = :connection_id
on conflict (token_id) do update set due_at = excluded.due_at, generation = r.generation + 1,
    failures = 0, renewed_at = now();

-- statement: renewal_plan_installation
-- The same for the token of an installation, in that many seconds.
-- takes: installation_id text, in_seconds bigint
insert into vcs_renewals as r(installation_id, due_at)
values (:installation_id, now() + make_interval(secs => :in_seconds::bigint))
on conflict (installation_id) do update set due_at = excluded.due_at, generation = r.generation + 1,
    failures = 0, renewed_at = now();

-- statement: renewals_hasten
-- A token that was renewed within the last seconds is not renewed again: the refused login had the older one,
-- or the provider refuses for another reason.
-- index: vcs_renewals_installation_id_key, vcs_renewals_token_id_key, vcs_tokens_connection_id_key
-- takes: repository_id text
-- gives: known bigint, hastened bigint
with s as (
    select n.subject_id, n.renewed_at > now() - interval '10 seconds' as fresh
    from vcs_repositories r
    left join vcs_tokens t on t.connection_id = r.connection_id and t.refresh_sealed is not null
        and t.state <> 'refused'
    join vcs_renewals n on n.token_id = t.id or n.installation_id = r.installation_id
    where r.id = :repository_id
),
h as (
    update vcs_renewals
    set due_at = least(due_at, now())
    where subject_id = any(array(select subject_id from s where not fresh))
    returning subject_id
)
select (select count(*) from s) as known, (select count(*) from h) as hastened;

-- statement: renewals_take
-- Takes up to `max` renewals that are due, the most urgent first, for a minute.
-- index: vcs_renewals_due
-- takes: max bigint
-- gives: subject_id text, token_id text null, installation_id text null, generation bigint, failures integer
update vcs_renewals
set due_at = now() + interval '1 minute'
where subject_id = any(array(
        select subject_id
        from vcs_renewals
        where due_at <= now()
        order by due_at
        limit :max
        for update skip locked
    ))
returning subject_id, token_id, installation_id, generation, failures;

-- statement: renewals_wait
-- Milliseconds until the next renewal is due, below 0 if it is overdue; null if none is planned.
-- index: vcs_renewals_due
-- gives: ms bigint null
select ceil(extract(epoch from min(due_at) - now()) * 1000)::bigint as ms from vcs_renewals;

-- statement: renewal_is_current
-- A row, locked, if the renewal has not been replaced.
-- index: vcs_renewals_pkey
-- takes: subject_id text, generation bigint
select 1 from vcs_renewals where subject_id = :subject_id and generation = :generation for update;

-- statement: renewal_postpone
-- Repeats a failed renewal after `pause` seconds.
-- index: vcs_renewals_pkey
-- takes: subject_id text, generation bigint, pause bigint
update vcs_renewals
set failures = failures + 1, due_at = now() + make_interval(secs => :pause::bigint)
where subject_id = :subject_id and generation = :generation;

-- statement: renewal_note
-- Adds a failed renewal to the events of the connection.
-- index: vcs_connections_pkey
-- takes: new_id text, connection_id text, message text
insert into vcs_events
    (id, organization_id, connection_id, found_by, kind, state, level, message, done_at)
select :new_id, organization_id, id, 'request', 'connection', 'done', 'error', :message, now()
from vcs_connections
where id = :connection_id;

-- statement: renewal_end
-- Deletes a renewal that is over, unless it was replaced.
-- index: vcs_renewals_pkey
-- takes: subject_id text, generation bigint
delete from vcs_renewals where subject_id = :subject_id and generation = :generation;
