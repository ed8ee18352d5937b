-- SPDX-License-Identifier: MPL-2.0
-- The versions of the schema and of the processes, so that a release may refuse or wait for older ones (db/schema.h).

-- Of a migration that contracts: the lowest version of the programs that may serve afterwards.
alter table schema_migrations add column if not exists oldest integer;

-- Schedulers that serve. `schema` is the number of a scheduler's newest migration. A row is deleted when its scheduler
-- stops, or a day after its last heartbeat.
create table schedulers (
	id text primary key,
	name text not null,
	version text not null,
	protocol integer not null,
	schema integer not null,
	started_at timestamptz not null default now(),
	seen_at timestamptz not null default now()
) with (fillfactor = 50);

-- The newest version of the protocol (proto/protocol.h) that each supports.
alter table workers add column protocol integer not null default 1;
alter table notifiers add column name text not null default '';
alter table notifiers add column version text not null default '';
alter table notifiers add column protocol integer not null default 1;

create view processes as
	select 'scheduler' as kind, name, version, protocol, schema, seen_at from schedulers
	union all
	select 'worker', name, version, protocol, null, seen_at from workers where left_at is null
	union all
	select 'notifier', coalesce(nullif(name, ''), url), version, protocol, null, seen_at from notifiers;
