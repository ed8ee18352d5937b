-- SPDX-License-Identifier: MPL-2.0

-- fragment: audit_counted_until(whose, time)
-- The number of events before that time, of whole hours only.
coalesce((
        select events
        from audit_totals
        where organization_id = :whose and until <= :time
        order by until desc
        limit 1
    ), 0);

-- fragment: audit_list(own, whose, same)
-- Events that match the condition `own`, the newest first; `whose` is the key of their totals. audit_totals has
-- the counts from the first full hour after `since` to the last hour that was counted; the rest is counted
-- here. The page is found in an index before any other column is read. `materialized` computes the total once;
-- `offset 0` keeps the page a lookup per event also with a plan of the time when there were none (0.5 ms, else
-- seconds with 100,000 events).
(
    with n as materialized (
        select case
            when s.known < c.until then (
                    select count(*)
                    from audit_events
                    where :own and at > :since::timestamptz and at < s.known
                ) + :audit_counted_until(:whose, c.until) - :audit_counted_until(:whose, s.known) +
                (select count(*) from audit_events where :own and at >= c.until)
            else (select count(*) from audit_events where :own and at > :since::timestamptz) end as total
        from audit_counted c,
            (select coalesce(date_trunc('hour', :since::timestamptz) + interval '1 hour', '-infinity') as known) s
    ),
    k as (
        select at as k_at, position as k_position
        from audit_events
        where :own and (:since::timestamptz is null or at > :since::timestamptz)
        order by at desc, position desc
        limit :limit
        offset :offset
    )
    select n.total, e.*
    from n
    left join (
        select id, position, at, organization_id, actor_type, actor_id, actor_name, token_id, address, request_id,
            action, resource_type, resource_id, workspace_id, to_jsonb(attributes) as attributes, details
        from k
        cross join lateral (
            select * from audit_events x where :same x.at = k_at and x.position = k_position offset 0
        ) e
    ) e on true
    order by e.at desc, e.position desc
);

-- shape: audit_event
-- total bigint, id text, position bigint, at timestamptz, organization_id text null, actor_type text,
-- actor_id text null, actor_name text null, token_id text null, address text null, request_id text,
-- action text, resource_type text, resource_id text null, workspace_id text null, attributes jsonb,
-- details jsonb

-- statement: audit_of_organization
-- One page of the organization's events.
-- index: audit_events_at, audit_events_organization
-- reads: audit_counted
-- takes: organization text, since timestamptz, limit bigint, offset bigint
-- gives: audit_event
:audit_list(organization_id = :organization, :organization, {x.organization_id = :organization and});

-- statement: audit_of_site
-- One page of all events, and of those of no organization. `organization` is null.
-- index: audit_events_at
-- reads: audit_counted
-- takes: like audit_of_organization
-- gives: audit_event
:audit_list(:organization::text is null, '', {});

-- fragment: audit_search(own)
-- Events that match the condition `own` and the filters, the newest first.
select 0::bigint as total, id, position, at, organization_id, actor_type, actor_id, actor_name, token_id, address,
    request_id, action, resource_type, resource_id, workspace_id, to_jsonb(attributes) as attributes, details
from audit_events
where :own
    and (:organization::text is null or organization_id = :organization)
    and (:since::timestamptz is null or at > :since)
    and (:until::timestamptz is null or at <= :until)
    and (:actor::text is null or actor_id = :actor or lower(actor_name) = lower(:actor))
    and (:action::text is null or action = :action)
    and (:resource_type::text is null or resource_type = :resource_type)
    and (:resource::text is null or resource_id = :resource)
order by at desc, position desc
limit :limit
offset :offset;

-- statement: audit_search_organization
-- Events of the organization.
-- index: audit_events_organization
-- takes: organization text, since timestamptz, until timestamptz, actor text, action text, resource_type text,
-- resource text, limit bigint, offset bigint
-- gives: audit_event
:audit_search(organization_id = :organization);

-- statement: audit_search_site
-- Events of the whole site.
-- index: audit_events_at
-- takes: like audit_search_organization
-- gives: audit_event
:audit_search(true);

-- statement: audit_search_actor
-- Events of an actor, by the id.
-- index: audit_events_actor
-- takes: like audit_search_organization
-- gives: audit_event
:audit_search(actor_id = :actor);

-- statement: audit_search_resource
-- Events about a resource.
-- index: audit_events_resource
-- takes: like audit_search_organization
-- gives: audit_event
:audit_search(resource_id = :resource);

-- statement: audit_insert
-- Writes the events, and a message about each.
-- takes: rows jsonb, topic text
with u as (
    select *
    from jsonb_to_recordset(:rows::jsonb) as u(
        id text, organization text, actor_type text, actor_id text, actor_name text, token text,
            address text, request text, action text, resource_type text, resource text, workspace text,
            attributes text, details jsonb, number bigint, message text)
),
event as (
    insert into audit_events (
        id, organization_id, actor_type, actor_id, actor_name, token_id, address, request_id, action,
            resource_type, resource_id, workspace_id, attributes, details)
    select id, organization, actor_type, actor_id, actor_name, token, address, request, action,
        resource_type, resource, workspace, attributes::text[], details
    from u
)
insert into outbox (id, topic, key, payload)
select number, :topic, organization, message
from u;

-- statement: audit_count
-- Counts the next hour with events, if it ended at least an hour ago. Concurrent schedulers write identical
-- rows.
-- index: audit_events_at
-- reads: audit_counted
with h as (
    select c.until as first, date_trunc('hour', e.at) + interval '1 hour' as until
    from audit_counted c
    cross join lateral (select at from audit_events where at >= c.until order by at, position limit 1) e
    where e.at < date_trunc('hour', now() - interval '1 hour')
),
n as (
    select o.id, h.until, count(*) as events
    from h
    join audit_events e on e.at >= h.first and e.at < h.until
    cross join lateral (values (e.organization_id), ('')) o(id)
    where o.id is not null
    group by 1, 2
),
t as (
    insert into audit_totals (organization_id, until, events)
    select n.id, n.until,
        n.events + coalesce((
                select t.events
                from audit_totals t
                where t.organization_id = n.id and t.until < n.until
                order by t.until desc
                limit 1
            ), 0)
    from n
    on conflict (organization_id, until) do nothing
)
update audit_counted c
set until = h.until
from h
where c.until < h.until;
