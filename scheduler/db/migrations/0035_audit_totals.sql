-- SPDX-License-Identifier: MPL-2.0
-- How many events the audit trail has is written down by the hour, so that a page of it counts those of the last hours
-- alone. An hour is counted an hour after its end, when no transaction that began in it is under way any more; events
-- are never changed and never go.

-- Of an organization, '' of the whole site: the events before `until`. An hour without any has no row.
create table audit_totals (
	organization_id text not null,
	until timestamptz not null,
	events bigint not null,
	primary key (organization_id, until)
);
-- Until when all are counted.
create table audit_counted (
	is_only boolean primary key default true check (is_only),
	until timestamptz not null
);
insert into audit_counted (until) values (date_trunc('hour', now() - interval '1 hour'));

insert into audit_totals
	select organization_id, hour + interval '1 hour', sum(events) over (partition by organization_id order by hour)
	from (select o.id as organization_id, date_trunc('hour', at) as hour, count(*) as events
		from audit_events e cross join lateral (values (e.organization_id), ('')) o (id)
		where o.id is not null and at < (select until from audit_counted) group by 1, 2) x;

-- A page is walked to in an index alone.
drop index audit_events_at;
create index audit_events_at on audit_events (at, position);
