-- SPDX-License-Identifier: MPL-2.0

-- shape: task_result_changed
-- id text, run_id text null, workspace_id text null, organization_id text null, due_in_ms bigint null optional,
-- answer integer optional, is_open boolean optional

-- statement: task_results_create
-- Creates the run's task stages and results; returns the stage of each. Every enabled run task of the workspace,
-- and every global one of the organization that is not attached to the workspace, has a result in each of its
-- stages. After an apply, a task is always advisory. Tasks are found in the indexes of the workspace and of the
-- organization.
-- index: tasks_name, workspace_tasks_workspace_id_task_id_key
-- takes: run_id text, workspace_id text
-- gives: stage text
with due as (
    select t.id, t.name, t.url, t.hmac_sealed, t.pool_id, wt.id as workspace_task_id, wt.enforcement,
        unnest(wt.stages) as stage
    from workspace_tasks wt
    join tasks t on t.id = wt.task_id
    where wt.workspace_id = :workspace_id and t.enabled
    union all
    select t.id, t.name, t.url, t.hmac_sealed, t.pool_id, null, t.global_enforcement, unnest(t.global_stages)
    from workspaces w
    join tasks t on t.organization_id = w.organization_id
    where w.id = :workspace_id and t.enabled and t.global_enabled
        and not exists (select 1 from workspace_tasks x where x.task_id = t.id and x.workspace_id = w.id)
),
made as (
    insert into task_stages (id, run_id, stage)
    select 'ts-' || substr(md5(:run_id || s.stage), 1, 16), :run_id, s.stage
    from (select distinct stage from due) s
    returning id, stage
)
insert into task_results
    (id, task_stage_id, run_id, stage, task_id, workspace_task_id, task_name, task_url, enforcement, hmac_sealed,
        pool_id)
select 'taskrs-' || substr(md5(:run_id || d.stage || d.id), 1, 16), m.id, :run_id, d.stage, d.id,
    d.workspace_task_id, d.name, d.url,
    case d.stage when 'post_apply' then 'advisory' else d.enforcement end,
    d.hmac_sealed, d.pool_id
from due d
join made m on m.stage = d.stage
returning stage;

-- statement: task_results_offer
-- Lets notifiers claim the results of the stages that run now, and returns them. `stages`: an array of {run_id,
-- stage, status}.
-- index: task_results_run
-- takes: stages jsonb, delivery_seconds double precision
-- gives: id text, run_id text
update task_results r
set delivery = 'waiting', give_up_at = now() + make_interval(secs => :delivery_seconds),
    updated_at = now()
from jsonb_to_recordset(:stages::jsonb) as u(run_id text, stage text, status text)
where u.status = 'running' and r.run_id = u.run_id and r.stage = u.stage and r.delivery = 'none'
returning r.id, r.run_id;

-- statement: task_results_end
-- Ends the open results of stages that are over. `stages`: an array of {run_id, stage, status, times, over}.
-- index: task_results_run
-- takes: stages jsonb
update task_results r
set status = case u.status when 'unreachable' then 'unreachable' else 'canceled' end,
    status_timestamps = r.status_timestamps || u.times, delivery = 'over', reported = null,
    updated_at = now()
from jsonb_to_recordset(:stages::jsonb) as u(run_id text, stage text, status text, times jsonb, over boolean)
where u.over and r.run_id = u.run_id and r.stage = u.stage and r.status in ('pending', 'running');
