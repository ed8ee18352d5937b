-- SPDX-License-Identifier: MPL-2.0

-- statement: audit_sink_register
-- Events from now on are kept for the sink.
-- takes: sink text
insert into audit_sinks (name) values (:sink) on conflict (name) do nothing;

-- statement: audit_sink_hold
-- Takes or extends the lease; no row if another scheduler has it.
-- reads: audit_sinks
-- takes: sink text, holder text, seconds double precision
-- gives: name text
update audit_sinks
set holder = :holder, lease_until = now() + make_interval(secs => :seconds)
where name = :sink and (holder = :holder or lease_until < now())
returning name;

-- statement: audit_sink_release
-- Ends the holder's lease.
-- reads: audit_sinks
-- takes: sink text, holder text
update audit_sinks set lease_until = '-infinity' where name = :sink and holder = :holder;

-- shape: audit_unsent
-- position bigint, id text, at text, at_ms bigint, organization_id text null, organization text null,
-- actor_type text, actor_id text null, actor_name text null, token_id text null, address text null,
-- request_id text, action text, resource_type text, resource_id text null, workspace_id text null,
-- attributes jsonb, details jsonb

-- statement: audit_unsent_read
-- The first events that the sink lacks.
-- index: audit_events_pkey, audit_unsent_pkey, organizations_pkey
-- takes: sink text, most bigint
-- gives: audit_unsent
select u.position, e.id, to_char(e.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
    (extract(epoch from e.at) * 1000)::bigint as at_ms, e.organization_id, o.name as organization, e.actor_type,
    e.actor_id, e.actor_name, e.token_id, e.address, e.request_id, e.action, e.resource_type, e.resource_id,
    e.workspace_id, to_jsonb(e.attributes) as attributes, e.details
from (
    select position, event_id from audit_unsent where sink = :sink order by position limit :most
) u
join audit_events e on e.id = u.event_id
left join organizations o on o.id = e.organization_id
order by u.position;

-- statement: audit_unsent_any
-- A row if the sink lacks an event.
-- index: audit_unsent_pkey
-- takes: sink text
select 1 from audit_unsent where sink = :sink limit 1;

-- statement: audit_unsent_delete
-- Forgets events that were sent.
-- index: audit_unsent_pkey
-- takes: sink text, positions bigint[]
delete from audit_unsent where sink = :sink and position = any(:positions::bigint[]);

-- statement: audit_sink_note
-- Notes the result of the last attempt.
-- reads: audit_sinks
-- takes: sink text, error text
update audit_sinks
set error = left(:error, 300), sent_at = case when :error = '' then now() else sent_at end
where name = :sink;

-- shape: audit_sink
-- name text, unsent bigint, oldest_at timestamptz null, sent_at timestamptz null, error text

-- statement: audit_sinks_list
-- The sinks by name, with the number of events that each lacks, 100,000 at most.
-- index: audit_events_pkey, audit_unsent_pkey
-- reads: audit_sinks
-- gives: audit_sink
select s.name, (
        select count(*) from (select 1 from audit_unsent u where u.sink = s.name limit 100000) x
    ) as unsent,
    (
        select e.at
        from audit_unsent u
        join audit_events e on e.id = u.event_id
        where u.sink = s.name
        order by u.position
        limit 1
    ) as oldest_at,
    s.sent_at, s.error
from audit_sinks s
order by s.name;

-- statement: audit_sink_end
-- Ends an export.
-- index: audit_unsent_pkey
-- reads: audit_sinks
-- takes: sink text
-- gives: name text
with forgotten as (delete from audit_unsent where sink = :sink)
delete from audit_sinks
where name = :sink
returning name;
