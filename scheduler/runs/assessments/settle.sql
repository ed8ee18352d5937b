-- SPDX-License-Identifier: MPL-2.0

-- statement: assessment_take
-- Deletes an ended assessment; no row if another scheduler has evaluated it, or does so now.
-- takes: run text
-- gives: workspace text, status text, error text null, user text null, created_at timestamptz
with taken as (
    delete from assessments
    where run_id = (select run_id from assessments where run_id = :run for update skip locked)
    returning *
)
select t.workspace_id as workspace, r.status, i.error, t.created_by as user, t.created_at
from taken t
join runs r on r.id = t.run_id
join run_inputs i on i.run_id = t.run_id;

-- statement: assessment_before
-- What was known of the workspace: the digests are those of the last result since its last change that succeeded.
-- `outdated`: its state has changed since `created_at`. Locks the workspace, so that the state does not change before
-- the result is stored.
-- index: assessment_results_workspace
-- takes: workspace text, created_at timestamptz
-- gives: organization text, resources bigint, drift_digest text null, checks_digest text null,
-- failed_before boolean, outdated boolean
select w.organization_id as organization, w.resource_count as resources, s.drift_digest, s.checks_digest,
    coalesce((select not l.succeeded from assessment_results l where l.id = w.assessment_id), false) as failed_before,
    coalesce(w.latest_change_at > :created_at::timestamptz, false) as outdated
from workspaces w
left join lateral (
    select drift_digest, checks_digest
    from assessment_results
    where workspace_id = w.id and succeeded and created_at >= w.latest_change_at
    order by position desc
    limit 1
) s on true
where w.id = :workspace
for no key update of w;

-- statement: assessment_result_insert
-- Adds the result, makes it the workspace's, and sets when the workspace is looked at next: after a period if it is
-- still assessed.
-- takes: id text, workspace text, run text, succeeded boolean, error text, drifted boolean, resources_drifted bigint,
-- resources_undrifted bigint, checks_passed bigint, checks_failed bigint, checks_errored bigint,
-- checks_unknown bigint, drift_digest text, checks_digest text, user text, created_at timestamptz, hours bigint
with made as (
    insert into assessment_results
        (id, workspace_id, run_id, succeeded, error, drifted, resources_drifted, resources_undrifted, checks_passed,
            checks_failed, checks_errored, checks_unknown, drift_digest, checks_digest, created_by, created_at)
    values (:id, :workspace, :run, :succeeded, :error, :drifted, :resources_drifted, :resources_undrifted,
        :checks_passed, :checks_failed, :checks_errored, :checks_unknown, :drift_digest, :checks_digest, :user,
        coalesce(:created_at::timestamptz, now()))
    returning id
)
update workspaces w
set assessment_id = (select id from made), drifted = case when :succeeded then :drifted else w.drifted end,
    assess_at = case when :assessment_enabled(w, o) then now() + :assessment_period(o) end
from organizations o
where w.id = :workspace and o.id = w.organization_id;

-- statement: assessment_retry
-- Sets when a workspace is looked at next whose assessment was canceled.
-- index: organizations_pkey, workspaces_pkey
-- takes: workspace text, seconds double precision
update workspaces w
set assess_at = case when :assessment_enabled(w, o) then now() + make_interval(secs => :seconds) end
from organizations o
where w.id = :workspace and o.id = w.organization_id;

-- statement: assessment_results_prune
-- Deletes all but the newest `kept` results of the workspace, with their runs, and the run of a canceled assessment.
-- index: assessment_results_workspace
-- takes: workspace text, kept bigint, canceled text
with old as (
    delete from assessment_results
    where id = any(array(
        select id
        from assessment_results
        where workspace_id = :workspace
        order by position desc
        offset :kept
    ))
    returning run_id
)
delete from runs where id = any(array(select run_id from old union all select :canceled::text));
