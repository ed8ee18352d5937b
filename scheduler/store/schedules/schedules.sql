-- SPDX-License-Identifier: MPL-2.0

-- shape: schedule
-- total bigint optional, id text, workspace_id text, organization_id text, name text, kind text, auto_apply boolean,
-- cron text null, time_zone text null, at timestamptz null, jitter_seconds integer, enabled boolean,
-- stopped_reason text null, next_at timestamptz null, last_at timestamptz null, last_outcome text null,
-- last_reason text null, last_run_id text null, created_by text null, run_as text null, created_at timestamptz,
-- updated_at timestamptz, local text null

-- fragment: schedule_columns(s)
-- `local`: the local time before the next occurrence of cron.
:s.id, :s.workspace_id, w.organization_id, :s.name, :s.kind, :s.auto_apply, :s.cron, :s.time_zone, :s.at,
    :s.jitter_seconds, :s.enabled, :s.stopped_reason, :s.next_at, :s.last_at, :s.last_outcome, :s.last_reason,
    :s.last_run_id, :s.created_by, :s.run_as, :s.created_at, :s.updated_at,
    :local_text({schedule_local(:s.occurrence_at - interval '1 minute', :s.time_zone)}) as local;

-- fragment: local_text(time)
-- As lifecycle/schedules/cron.h reads and writes it.
to_char(:time, 'YYYY-MM-DD HH24:MI');

-- statement: schedules_list
-- One page, the oldest first, with the total in each row; one row without a schedule if the page is empty.
-- index: schedules_name, workspaces_pkey
-- takes: workspace_id text, limit bigint, offset bigint
-- gives: schedule
select c.total, t.*
from (select count(*) as total from schedules where workspace_id = :workspace_id) c
left join (
    select :schedule_columns(s)
    from schedules s
    join workspaces w on w.id = s.workspace_id
    where s.workspace_id = :workspace_id
    order by s.created_at, s.id
    limit :limit
    offset :offset
) t on true
order by t.created_at, t.id;

-- statement: schedule_read
-- One schedule.
-- index: schedules_pkey, workspaces_pkey
-- takes: id text
-- gives: schedule
select :schedule_columns(s) from schedules s join workspaces w on w.id = s.workspace_id where s.id = :id;

-- statement: schedule_zone_check
-- Whether the text names a time zone of the database, and not a notation of POSIX. `posix/...` and the like are none.
-- takes: time_zone text
-- gives: known boolean
select :time_zone ~ '^[A-Z]' and exists (select 1 from pg_timezone_names z where z.name = :time_zone) as known;

-- statement: schedule_now
-- The current local time of the zone.
-- takes: time_zone text
-- gives: local text
select :local_text({schedule_local(now(), :time_zone)}) as local;

-- statement: schedule_lock
-- Locks the workspace, so that no other request counts its schedules.
-- index: workspaces_pkey
-- takes: workspace_id text
select 1 from workspaces where id = :workspace_id for no key update;

-- fragment: schedule_occurrence()
-- The next occurrence: null if the schedule is disabled. `local` is that of cron.
case when :enabled then coalesce(schedule_moment(:local::text::timestamp, :time_zone), :at::timestamptz) end;

-- statement: schedule_create
-- Adds no row if the workspace has the maximum number of schedules.
-- index: schedules_name
-- takes: id text, workspace_id text, name text, kind text, auto_apply boolean, cron text, time_zone text,
-- at timestamptz, jitter_seconds integer, enabled boolean, run_as text, local text, max bigint
insert into schedules
    (id, workspace_id, name, kind, auto_apply, cron, time_zone, at, jitter_seconds, enabled, created_by, run_as,
        occurrence_at, next_at, check_at)
select :id, :workspace_id, :name, :kind, :auto_apply, :cron, :time_zone, :at, :jitter_seconds, :enabled,
    :run_as, :run_as, o.at, schedule_start(:id, o.at, :jitter_seconds),
    schedule_start(:id, o.at, :jitter_seconds)
from (select :schedule_occurrence() as at) o
where (select count(*) from schedules where workspace_id = :workspace_id) < :max::bigint;

-- statement: schedule_update
-- Replaces the schedule. No row: it is gone.
-- index: schedules_pkey
-- takes: id text, name text, kind text, auto_apply boolean, cron text, time_zone text, at timestamptz,
-- jitter_seconds integer, enabled boolean, run_as text, local text
update schedules s
set name = :name, kind = :kind, auto_apply = :auto_apply, cron = :cron, time_zone = :time_zone, at = :at,
    jitter_seconds = :jitter_seconds, enabled = :enabled, run_as = :run_as, stopped_reason = null,
    occurrence_at = o.at, next_at = schedule_start(:id, o.at, :jitter_seconds),
    check_at = schedule_start(:id, o.at, :jitter_seconds), updated_at = now()
from (select :schedule_occurrence() as at) o
where s.id = :id;

-- statement: schedule_delete
-- Deletes it. Its runs stay.
-- index: schedules_pkey
-- takes: id text
delete from schedules where id = :id;

-- statement: schedule_at_check
-- Whether the time is to come.
-- takes: at timestamptz
-- gives: comes boolean
select :at::timestamptz > now() as comes;

-- statement: schedule_moments
-- The moments of these local times, in order, without duplicates.
-- takes: locals text[], time_zone text
-- gives: at timestamptz
select distinct schedule_moment(l::timestamp, :time_zone) as at from unnest(:locals::text[]) l order by 1;
