-- SPDX-License-Identifier: MPL-2.0
-- Schedules of runs, and windows in which applies may start.
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
	check_at timestamptz, -- when background/schedules/schedules.c looks at it: next_at, or later after a failure; null: never
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

-- Applies start only in windows of the workspace; if it has none, in those of its project; if that has none, in those of the
-- organization; if there are none at all, at any time.
create table maintenance_windows (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	project_id text references projects on delete cascade,
	workspace_id text references workspaces on delete cascade,
	name text not null,
	days smallint not null check (days between 1 and 127), -- bits, from Sunday
	start_minute smallint not null check (start_minute between 0 and 1439), -- of the local day
	duration_minutes smallint not null check (duration_minutes between 1 and 1440),
	time_zone text not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	check (num_nonnulls(project_id, workspace_id) <= 1)
);
create index maintenance_windows_organization on maintenance_windows (organization_id);
create index maintenance_windows_project on maintenance_windows (project_id) where project_id is not null;
create index maintenance_windows_workspace on maintenance_windows (workspace_id) where workspace_id is not null;

-- Confirmed runs that wait for a window. background/schedules/windows.c looks at them when it opens, and after changes of windows.
create table window_waits (
	run_id text primary key references runs on delete cascade,
	workspace_id text not null,
	opens_at timestamptz not null -- infinity: never
);
create index window_waits_opens on window_waits (opens_at);
create index window_waits_workspace on window_waits (workspace_id);

-- One row: whether no window is open now, and when the next one opens; null: never.
create function apply_window(workspace text) returns table (closed boolean, opens_at timestamptz) language sql stable as $$
	with windows as (
		select m.*, rank() over (order by (m.workspace_id is not null)::int * 2 + (m.project_id is not null)::int desc) as level
		from workspaces w
		join maintenance_windows m on m.organization_id = w.organization_id
			and (m.workspace_id is null or m.workspace_id = w.id) and (m.project_id is null or m.project_id = w.project_id)
		where w.id = workspace
	),
	openings as (
		select schedule_moment(d.day + make_interval(mins => m.start_minute), m.time_zone) as at,
			make_interval(mins => m.duration_minutes) as duration
		from windows m
		cross join lateral (
			select (now() at time zone m.time_zone)::date + n as day from generate_series(-2, 8) n
		) d
		where m.level = 1 and m.days >> extract(dow from d.day)::int & 1 = 1
	)
	select coalesce(not bool_or(at <= now() and now() < at + duration), false), min(at) filter (where at > now()) from openings
$$;

create function window_wait_changed() returns trigger language plpgsql as $$
begin
	if new.status = 'confirmed' and not new.queued then
		insert into window_waits (run_id, workspace_id, opens_at)
		select new.id, new.workspace_id, coalesce(o.opens_at, 'infinity') from apply_window(new.workspace_id) o
		on conflict (run_id) do update set opens_at = excluded.opens_at;
	else
		delete from window_waits where run_id = new.id;
	end if;
	return null;
end $$;
create trigger runs_window_waits after update of status on runs for each row
	when (new.status = 'confirmed' and not new.queued or old.status = 'confirmed' and not old.queued)
	execute function window_wait_changed();

-- Runs that wait are looked at again after a change of windows, and after the workspace was moved.
create function windows_changed() returns trigger language plpgsql as $$
begin
	update window_waits set opens_at = now()
	where workspace_id in (select w.id from workspaces w where w.organization_id = coalesce(new.organization_id, old.organization_id));
	return null;
end $$;
create trigger maintenance_windows_changed after insert or update or delete on maintenance_windows for each row
	execute function windows_changed();
create function window_workspace_moved() returns trigger language plpgsql as $$
begin
	update window_waits set opens_at = now() where workspace_id = new.id;
	return null;
end $$;
create trigger workspaces_window_moved after update of project_id on workspaces for each row
	when (old.project_id is distinct from new.project_id) execute function window_workspace_moved();
