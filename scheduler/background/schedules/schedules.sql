-- SPDX-License-Identifier: MPL-2.0

-- statement: schedules_due
-- Schedules that are due, the longest due first; none during maintenance.
-- index: schedules_check
-- reads: maintenance
-- takes: max bigint
-- gives: id text
select id
from schedules
where check_at <= now() and (select reason is null from maintenance)
order by check_at
limit :max;

-- statement: schedules_take
-- Locks those of the schedules that are still due and that no other scheduler has locked. `person`: the person who
-- saved it still has an account that may be used. `rights`: the person's rights in the workspace. `local`: the local
-- time after which the next occurrence is; after a step of the clock back, that of this occurrence. `waits`: the
-- previous run has not ended.
-- index: runs_pkey, schedules_pkey, team_members_user, team_projects_project, users_pkey, workspaces_pkey
-- takes: ids text[], grace interval
-- gives: id text, name text, kind text, auto_apply boolean, cron text null, workspace_id text, workspace text,
-- organization_id text, run_as text null, username text null, person boolean, is_site_admin boolean, rights bigint,
-- locked boolean, held boolean, waits boolean, late boolean, due text, last_outcome text null,
-- last_reason text null, local text null
select s.id, s.name, s.kind, s.auto_apply, s.cron, s.workspace_id, w.name as workspace, w.organization_id, s.run_as,
    u.username, u.id is not null and not u.is_suspended as person,
    coalesce(u.is_site_admin, false) as is_site_admin,
    coalesce(case when s.run_as is not null then :rights_in_workspace(s.run_as, w.organization_id, w.id) end, 0)
        as rights,
    w.locked_by is not null as locked, w.hold_job_id is not null as held,
    exists (select 1 from runs r where r.id = s.last_run_id and not r.ended) as waits,
    s.next_at + :grace::interval < now() as late,
    to_char(s.next_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') as due, s.last_outcome, s.last_reason,
    :local_text({schedule_local(greatest(now(), s.occurrence_at), s.time_zone)}) as local
from schedules s
join workspaces w on w.id = s.workspace_id
left join users u on u.id = s.run_as
where s.id = any(:ids::text[]) and s.check_at <= now()
order by s.check_at
for no key update of s skip locked;

-- statement: schedules_used
-- Stores what came of occurrences, and sets the next ones: `local` of a cron, none of a schedule with one time or that
-- is stopped.
-- index: schedules_pkey
-- takes: rows jsonb
update schedules s
set last_at = now(), last_outcome = u.outcome, last_reason = u.reason,
    last_run_id = coalesce(u.run_id, s.last_run_id), enabled = n.at is not null,
    stopped_reason = case when u.outcome = 'stopped' then u.reason end, occurrence_at = n.at,
    next_at = schedule_start(s.id, n.at, s.jitter_seconds), check_at = schedule_start(s.id, n.at, s.jitter_seconds)
from jsonb_to_recordset(:rows::jsonb) as u(id text, outcome text, reason text, run_id text, local text)
cross join lateral (
    select schedule_moment(u.local::timestamp, x.time_zone) as at from schedules x where x.id = u.id
) n
where s.id = u.id;

-- statement: schedule_postpone
-- Tries the schedule again later, unless another scheduler has it.
-- index: schedules_pkey
-- takes: ids text[], again_seconds double precision
update schedules
set check_at = now() + make_interval(secs => :again_seconds)
where id in (
    select id
    from schedules
    where id = any(:ids::text[]) and check_at <= now()
    for no key update skip locked
);
