-- SPDX-License-Identifier: MPL-2.0

-- fragment: changes_insert(table, columns)
-- Inserts the rows; a column that a row lacks is null.
insert into :table (:columns)
select :columns
from jsonb_populate_recordset(null:::table, :rows::jsonb);

-- fragment: changes_rows(columns)
-- The rows, as a table for `from`.
jsonb_to_recordset(:rows::jsonb) as u(:columns);

-- statement: changes_new_runs
-- `rows` of this and all following statements: a JSON array.
-- takes: rows jsonb
:changes_insert(runs, {
    id, workspace_id, organization_id, status, stage, stages, plan_only, assessment, query, test, save_plan,
    auto_apply, allow_empty_apply, has_changes, queued, underway, stopping, holds, ended, status_timestamps
});

-- statement: changes_new_operations
-- Plans and applies of new runs.
-- takes: like changes_new_runs
:changes_insert(operations, {id, run_id, status, status_timestamps, log_ended});

-- statement: changes_ended_jobs
-- Deletes the jobs, locked in the order of their ids.
-- index: jobs_pkey
-- takes: like changes_new_runs
delete from jobs
where id = any(array(
    select j.id
    from jobs j
    where j.id = any(array(select u.id from :changes_rows(id text)))
    order by j.id
    for update
));

-- statement: changes_runs
-- The new states of runs. A requested stop allows a force-cancel 10 seconds later.
-- index: runs_pkey
-- takes: like changes_new_runs
update runs r
set status = u.status, stage = u.stage, has_changes = u.has_changes, queued = u.queued, underway = u.underway,
    stopping = u.stopping, holds = u.holds, ended = u.ended,
    status_timestamps = r.status_timestamps || u.status_timestamps, updated_at = now(),
    canceled_at = case
        when u.stopping > 0 or u.status = 'canceled' then coalesce(r.canceled_at, now())
        else r.canceled_at
    end,
    force_cancel_available_at = case
        when u.stopping > 0 or u.status = 'canceled'
            then coalesce(r.force_cancel_available_at, now() + interval '10 seconds')
        else r.force_cancel_available_at
    end
from :changes_rows({
    id text, status text, stage text, has_changes boolean, queued boolean, underway boolean, stopping smallint,
    holds boolean, ended boolean, status_timestamps jsonb
})
where r.id = u.id;

-- statement: changes_inputs
-- Why a run errored, and who decided; the first values are replaced only by new ones.
-- index: run_inputs_pkey
-- takes: like changes_new_runs
update run_inputs i
set error = coalesce(u.error, i.error), confirmed_by = coalesce(u.confirmed_by, i.confirmed_by),
    canceled_by = coalesce(u.canceled_by, i.canceled_by)
from :changes_rows({run_id text, error text, confirmed_by text, canceled_by text})
where i.run_id = u.run_id;

-- statement: changes_new_jobs
-- A job needs the engine and the version of its plan, or a worker for its stage. A query or a test run also needs a
-- worker that makes them.
-- index: operations_pkey, run_inputs_pkey, runs_pkey
-- takes: like changes_new_runs
insert into jobs (id, run_id, workspace_id, organization_id, pool_id, stage, class, needs)
select u.id, u.run_id, u.workspace_id, u.organization_id, u.pool_id, u.stage, u.class,
    coalesce(
        case
            when u.stage = 'plan' then case when r.query then 'query ' when r.test then 'test ' else '' end || 'engine '
                || i.terraform_version
            when u.stage <> 'apply' then u.stage
            when p.engine <> '' then p.engine || ' ' || p.terraform_version
        end,
        ''
    )
from :changes_rows({
    id text, run_id text, workspace_id text, organization_id text, pool_id text, stage text, class smallint
})
join runs r on r.id = u.run_id
left join run_inputs i on i.run_id = u.run_id
left join operations p on p.id = 'plan' || substr(u.run_id, 4);

-- statement: changes_retried_jobs
-- Offers the jobs again. `lost`: the last attempt was lost with its worker.
-- index: jobs_pkey, workers_pkey
-- takes: like changes_new_runs
update jobs j
set state = 'waiting', attempt = attempt + 1, started = false, stop = 0, worker_id = null, token_hash = null,
    lease_until = null, announced_at = now(), deadline = null,
    lost_with = case
        when u.lost
            then j.lost_with || coalesce((select name from workers where id = j.worker_id), j.worker_id)
        else j.lost_with
    end
from :changes_rows({id text, lost boolean})
where j.id = u.id;

-- statement: changes_stopped_jobs
-- Asks for stops.
-- index: jobs_pkey
-- takes: like changes_new_runs
update jobs j set stop = u.stop from :changes_rows({id text, stop smallint}) where j.id = u.id;

-- statement: changes_states
-- The last state of an ended apply is no longer intermediate.
-- index: state_versions_job
-- takes: like changes_new_runs
update state_versions s
set intermediate = false, recovered = u.recovered
from :changes_rows({job_id text, recovered boolean})
where s.job_id = u.job_id;

-- statement: changes_operations
-- Plans and applies, in the order of their ids, as uploads lock them.
-- index: operations_pkey
-- takes: like changes_new_runs
update operations o
set status = u.status, status_timestamps = o.status_timestamps || u.status_timestamps,
    log_ended = o.log_ended or u.log_ended, additions = coalesce(u.additions, o.additions),
    changes = coalesce(u.changes, o.changes), destructions = coalesce(u.destructions, o.destructions),
    imports = coalesce(u.imports, o.imports), terraform_version = coalesce(u.terraform_version, o.terraform_version)
from (
    select *
    from :changes_rows({
        id text, status text, status_timestamps jsonb, log_ended boolean, additions integer, changes integer,
        destructions integer, imports integer, terraform_version text
    })
    order by id
) u
where o.id = u.id;

-- statement: changes_task_stages
-- The statuses of task stages.
-- index: task_stages_run_id_stage_key
-- takes: like changes_new_runs
update task_stages t
set status = u.status, status_timestamps = t.status_timestamps || u.times, updated_at = now()
from :changes_rows({run_id text, stage text, status text, times jsonb})
where t.run_id = u.run_id and t.stage = u.stage;

-- statement: changes_policies
-- The statuses of evaluations. A failed one is not canceled.
-- index: policy_evaluations_run_id_kind_key
-- takes: like changes_new_runs
update policy_evaluations e
set status = u.status, overridden_by = coalesce(u.actor, e.overridden_by),
    status_timestamps = e.status_timestamps || u.times, updated_at = now()
from :changes_rows({run_id text, stage text, status text, times jsonb, actor text})
where e.run_id = u.run_id and e.kind = u.stage and not (e.status = 'failed' and u.status = 'canceled');

-- statement: changes_costs
-- The statuses of cost estimates.
-- index: cost_estimates_run_id_key
-- takes: like changes_new_runs
update cost_estimates c
set status = u.status, status_timestamps = c.status_timestamps || u.times,
    error_message = case
        when u.status = 'errored' then coalesce(c.error_message, nullif(u.reason, ''))
        else c.error_message
    end
from :changes_rows({run_id text, status text, times jsonb, reason text})
where c.run_id = u.run_id;

-- statement: changes_workspaces
-- The current run of each workspace, which is also its latest.
-- index: workspaces_pkey
-- takes: like changes_new_runs
update workspaces w
set current_run_id = u.current, latest_run_id = coalesce(u.current, w.latest_run_id)
from :changes_rows({id text, current text})
where w.id = u.id;

-- fragment: operation_took(operation)
-- The duration of a finished plan or apply in milliseconds; null for any other.
1000 * extract(epoch from (:operation.status_timestamps->>'finished-at')::timestamptz
    - (:operation.status_timestamps->>'started-at')::timestamptz);

-- statement: changes_ended_runs
-- Updates the totals of the workspaces whose runs ended, from up to 30 last runs (migration 0024). `ended` has one
-- row per workspace. All tables are read and written by their primary keys, policy_evaluations by its run.
-- index: policy_evaluations_run_id_kind_key
-- takes: like changes_new_runs
with ended as (
    select u.workspace, count(*) as count, array_agg(u.run) as runs,
        array_agg(:operation_took(p)) as plans, array_agg(:operation_took(a)) as applies,
        array_agg(u.failed) as failed,
        array_agg((
            select true
            from policy_evaluations v
            where v.run_id = u.run and v.status in ('failed', 'hard_failed', 'soft_failed', 'overridden')
            limit 1
        ) is not null) as policies
    from :changes_rows({workspace text, run text, failed boolean})
    join operations p on p.id = 'plan' || substr(u.run, 4)
    join operations a on a.id = 'apply' || substr(u.run, 4)
    group by u.workspace
),
last as (
    insert into workspace_last_runs as l (workspace_id, plans, applies, failed, policies_failed)
    select workspace, plans::bigint[], applies::bigint[], failed, policies
    from ended
    on conflict (workspace_id) do update set plans = (excluded.plans || l.plans)[1:30],
        applies = (excluded.applies || l.applies)[1:30], failed = (excluded.failed || l.failed)[1:30],
        policies_failed = (excluded.policies_failed || l.policies_failed)[1:30]
    returning *
)
update workspaces w
set run_count = w.run_count + e.count,
    current_run_id = case when w.current_run_id = any(e.runs) then null else w.current_run_id end,
    run_failures = cardinality(array_positions(l.failed, true)),
    policy_failures = cardinality(array_positions(l.policies_failed, true)),
    plan_milliseconds = coalesce((select round(avg(m)) from unnest(l.plans) m), 0),
    apply_milliseconds = coalesce((select round(avg(m)) from unnest(l.applies) m), 0)
from ended e
join last l on l.workspace_id = e.workspace
where w.id = e.workspace;

-- statement: changes_comments
-- Comments on decisions.
-- takes: like changes_new_runs
:changes_insert(comments, {id, run_id, body, created_by});

-- statement: changes_events
-- Events of runs.
-- takes: like changes_new_runs
:changes_insert(run_events, {id, run_id, action, description, actor_id, comment_id});

-- statement: changes_ended_tests
-- Publishes the versions of modules whose tests have passed, and notes why the others have not
-- (runs/registry/version_tests.h). A test run without a test publishes nothing.
-- index: operations_pkey, registry_module_versions_test_run, run_inputs_pkey, runs_pkey
-- takes: like changes_new_runs
with ended as (
    select u.run, r.status in ('canceled', 'force_canceled') as canceled,
        r.status = 'planned_and_finished' as finished, coalesce(p.additions, 0) as passed,
        coalesce(p.changes, 0) as failed, coalesce(p.destructions, 0) as errored, coalesce(p.imports, 0) as skipped,
        i.error
    from :changes_rows({run text})
    join runs r on r.id = u.run
    join run_inputs i on i.run_id = u.run
    join operations p on p.id = 'plan' || substr(u.run, 4)
)
update registry_module_versions v
set status = case when e.finished and e.passed > 0 and e.failed + e.errored = 0 then 'ok' else 'reg_ingress_failed' end,
    tests_error = case when not (e.finished and e.passed > 0 and e.failed + e.errored = 0)
        then 'The tests did not pass in the test run trun' || substr(e.run, 4) || ': ' || case
            when e.canceled then 'it was canceled.'
            when not e.finished then coalesce(left(e.error, 400), 'its log says why.')
            when e.failed + e.errored > 0
                then e.passed || ' passed, ' || e.failed || ' failed, ' || e.errored || ' errored.'
            when e.skipped > 0 then 'all of them were skipped.'
            else 'the module requires tests, and has none. Add files *.tftest.hcl to its folder tests.'
        end end,
    updated_at = now()
from ended e
where v.test_run_id = e.run and v.status = 'reg_ingressing';

-- statement: changes_audits
-- Audit events of runs that ended without a request.
-- takes: like changes_new_runs
insert into audit_events
    (id, organization_id, actor_type, actor_name, request_id, action, resource_type, resource_id, workspace_id)
select gen_random_uuid(), organization, 'system', 'runyard-scheduler', gen_random_uuid(), action, type, resource,
    workspace
from :changes_rows({type text, resource text, workspace text, organization text, action text});
