-- SPDX-License-Identifier: MPL-2.0

-- fragment: cli_reads_plan()
-- A report t that is not decided yet. The terraform CLI reads the plan's log every two seconds, and reads the run
-- when it has come to the log's end. If the run has errored by then, the CLI shows neither the plan nor the
-- tasks. So a report that ends such a run waits until the plan has been over for three seconds;
-- sweep_task_deadlines decides it then.
(
    t.enforcement = 'mandatory' and t.reported ->> 'status' <> 'passed'
    and coalesce((
        select (p.status_timestamps ->> 'finished-at')::timestamptz > now() - interval '3 seconds'
        from runs r
        join run_inputs i on i.run_id = r.id and i.source = 'terraform+cloud'
        join operations p on p.id = 'plan' || substr(r.id, 4)
        where r.id = t.run_id and r.stage in ('post_plan', 'pre_apply')
    ), false)
);

-- statement: task_reports_runs
-- The runs of reports that can be decided now.
-- takes: ids text[]
-- gives: run_id text
select distinct t.run_id
from task_results t
where t.id = any(:ids::text[]) and t.reported is not null and not :cli_reads_plan();

-- statement: task_reports_take
-- Makes each report its result's status, once, and returns the changed results.
-- takes: ids text[]
-- gives: task_result_changed
update task_results t
set status = reported ->> 'status', message = coalesce(reported ->> 'message', t.message),
    url = coalesce(reported ->> 'url', url), reported = null, delivery = 'over', updated_at = now(),
    status_timestamps = t.status_timestamps || jsonb_build_object(
        (reported ->> 'status') || '-at',
        to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    )
from runs n
where n.id = t.run_id and t.id = any(:ids::text[]) and reported is not null
    and t.status in ('pending', 'running') and not :cli_reads_plan()
returning t.id, t.run_id, n.workspace_id, n.organization_id;

-- statement: task_stages_over
-- Returns the stages of these runs in which all results are final: whether a mandatory result, or any, did not
-- pass, and those that did not, as a text.
-- index: task_results_stage, task_stages_run_id_stage_key
-- takes: run_ids text[]
-- gives: run_id text, mandatory boolean, advisory boolean, failed text null
select s.run_id, bool_or(r.status <> 'passed' and r.enforcement = 'mandatory') as mandatory,
    bool_or(r.status <> 'passed') as advisory,
    string_agg(
        r.task_name || ' (' || r.enforcement || ') ' || r.status || coalesce(': ' || nullif(r.message, ''), ''),
        '; ' order by r.task_name
    ) filter (where r.status <> 'passed') as failed
from task_stages s
join runs n on n.id = s.run_id and n.stage = s.stage
join task_results r on r.task_stage_id = s.id
where s.run_id = any(:run_ids::text[]) and s.status = 'running'
group by s.id, s.run_id
having not bool_or(r.status in ('pending', 'running'));
