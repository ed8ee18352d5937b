-- SPDX-License-Identifier: MPL-2.0

-- fragment: destroy_after()
-- The duration after the last change of workspace `w` in project `j`; null if none is set.
replace(replace(case
            when coalesce((w.settings ->> 'inherits-project-auto-destroy')::boolean, true) then j.settings
            else w.settings end ->> 'auto-destroy-activity-duration', 'd', ' days'), 'h', ' hours')::
    interval;

-- statement: auto_destroy_lock
-- Locks the workspace if it is still due. over: its time has come. manages: it has resources. busy: a run, or a
-- lost apply whose state may still arrive, may create some. reminder: the reminder that is due.
-- index: projects_pkey, workspaces_pkey
-- takes: workspace_id text
-- gives: name text, organization_id text, over boolean, manages boolean, busy boolean, at timestamptz,
-- reminder timestamptz null, due text
select w.name, w.organization_id, d.at <= now() as over, w.resource_count > 0 as manages,
    w.current_run_id is not null or w.has_queue or w.hold_job_id is not null as busy, d.at,
    (
        select max(x)
        from unnest(array[d.at - interval '24 hours', d.at - interval '12 hours']) x
        where x <= now() and x > now() - interval '1 hour' and x is distinct from w.destroy_reminded
    ) as reminder, to_char(d.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI "UTC"') as due
from workspaces w
join projects j on j.id = w.project_id
cross join lateral (
    select coalesce((w.settings ->> 'auto-destroy-at')::timestamptz, w.latest_change_at + :destroy_after()) as at
) d
where w.id = :workspace_id and w.destroy_check_at <= now()
for no key update of w skip locked;

-- statement: auto_destroy_clear
-- Removes the setting whose time has come.
-- index: workspaces_pkey
-- takes: workspace_id text
update workspaces set settings = settings - 'auto-destroy-at' where id = :workspace_id;

-- statement: auto_destroy_plan
-- Computes the next time: a duration begins anew after the time has come.
-- index: projects_pkey, workspaces_pkey
-- takes: workspace_id text, over boolean, reminder timestamptz
update workspaces w
set destroy_check_at = workspace_destroy_next(coalesce((w.settings ->> 'auto-destroy-at')::timestamptz,
            greatest(w.latest_change_at, case when :over then now() end) + :destroy_after())),
    destroy_reminded = coalesce(:reminder::timestamptz, w.destroy_reminded)
from projects j
where j.id = w.project_id and w.id = :workspace_id;

-- statement: auto_destroy_postpone
-- Tries the workspace again later, unless another scheduler has it.
-- index: workspaces_pkey
-- takes: workspace_id text, again_seconds double precision
update workspaces
set destroy_check_at = now() + make_interval(secs => :again_seconds)
where id = (
    select id
    from workspaces
    where id = :workspace_id and destroy_check_at <= now()
    for no key update skip locked
);

-- statement: auto_destroy_due
-- Workspaces whose time or reminder is due; none during maintenance.
-- index: workspaces_destroy_check
-- reads: maintenance
-- takes: max bigint
-- gives: id text
select id
from workspaces
where destroy_check_at <= now() and (select reason is null from maintenance)
order by destroy_check_at
limit :max;
