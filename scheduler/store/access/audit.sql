-- SPDX-License-Identifier: MPL-2.0

-- statement: audit_insert
-- takes: rows jsonb, name text
with u as (
    select *
    from jsonb_to_recordset(:rows::jsonb) as u(
        id text, organization text, actor_type text, actor_id text, actor_name text, token text,
            address text, request text, action text, resource_type text, resource text, workspace text,
            attributes text, number bigint, message text)
),
event as (
    insert into audit_events (
        id, organization_id, actor_type, actor_id, actor_name, token_id, address, request_id, action,
            resource_type, resource_id, workspace_id, attributes)
    select id, organization, actor_type, actor_id, actor_name, token, address, request, action,
        resource_type, resource, workspace, attributes::text[]
    from u
)
insert into outbox (id, topic, key, payload)
select number, :name, organization, message
from u;

-- statement: audit_count
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
