-- SPDX-License-Identifier: MPL-2.0
-- Schedules of runs.
create table schedules (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	name text not null,
	kind text not null check (kind in ('plan', 'plan-and-apply', 'refresh-only', 'destroy')),
	auto_apply boolean not null, -- false for plan
	cron text, -- in local time of time_zone
	time_zone text, -- a name of PostgreSQL's time zone database
	at timestamptz, -- instead of cron: once
	jitter_seconds integer not null default 0,
	enabled boolean not null default true,
	stopped_reason text, -- why the scheduler disabled it
	occurrence_at timestamptz, -- the next or current time of cron or at; null: none
	next_at timestamptz, -- the same with its jitter
	check_at timestamptz, -- when background/schedules.c looks at it: next_at, or later after a failure; null: never
	last_at timestamptz,
	last_outcome text check (last_outcome in ('queued', 'skipped', 'stopped')),
	last_reason text, -- why no run was queued
	last_run_id text references runs on delete set null,
	created_by text references users on delete set null,
	run_as text references users on delete set null, -- who saved it last: its runs need this person's rights
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	check (num_nonnulls(cron, at) = 1 and (cron is null) = (time_zone is null)),
	check (enabled or check_at is null)
);
create unique index schedules_name on schedules (workspace_id, lower(name));
create index schedules_check on schedules (check_at) where check_at is not null;
create index schedules_run on schedules (last_run_id) where last_run_id is not null;
create index schedules_created_by on schedules (created_by) where created_by is not null;
create index schedules_run_as on schedules (run_as) where run_as is not null;

-- The sentence of a notification about a workspace.
alter table notifications add column note text;

-- The latest local time of the zone that has begun by `after`. After clocks were set back, this is the time before that
-- until the clocks have passed it again: a time that occurs twice counts once, the first time.
create function schedule_local(after timestamptz, zone text) returns timestamp language sql stable as $$
	select case when after at time zone zone - (after - interval '3 hours') at time zone zone < interval '3 hours'
			then (select max(t at time zone zone) from generate_series(after - interval '3 hours', after, interval '1 minute') t)
		else after at time zone zone end
$$;

-- The moment of a local time: the first if it occurs twice, and the first one after the gap if clocks skip it. The zone's
-- offset changes at most once within two days.
create function schedule_moment(local timestamp, zone text) returns timestamptz language sql stable as $$
	with around as (
		select (local at time zone zone) + x as at from unnest(array[interval '-1 day', interval '1 day']) x
	),
	candidates as (
		select (local - (at at time zone zone - at at time zone 'UTC')) at time zone 'UTC' as at from around
	)
	select coalesce(min(c.at) filter (where c.at at time zone zone = local), (
		select min(t)
		from generate_series((select min(at) from candidates), (select max(at) from candidates), interval '1 minute') t
		where t at time zone zone > local
	))
	from candidates c
$$;

-- The moment of an occurrence with its jitter, which is the same for each schedule and occurrence.
create function schedule_start(id text, occurrence timestamptz, jitter_seconds integer) returns timestamptz language sql immutable as $$
	select occurrence + make_interval(secs =>
		('x' || substr(md5(id || ' ' || extract(epoch from occurrence)::bigint::text), 1, 7))::bit(28)::integer % (jitter_seconds + 1))
$$;
