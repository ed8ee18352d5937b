-- SPDX-License-Identifier: MPL-2.0

-- shape: assessment_result
-- total bigint optional, id text, workspace_id text, run_id text null, succeeded boolean, error text null,
-- drifted boolean, resources_drifted bigint, resources_undrifted bigint, checks_passed bigint, checks_failed bigint,
-- checks_errored bigint, checks_unknown bigint, created_by text null, created_at timestamptz, organization_id text

-- fragment: assessment_result_columns()
r.id, r.workspace_id, r.run_id, r.succeeded, r.error, r.drifted, r.resources_drifted, r.resources_undrifted,
    r.checks_passed, r.checks_failed, r.checks_errored, r.checks_unknown, r.created_by, r.created_at,
    w.organization_id;

-- statement: assessment_results_list
-- One page of a workspace's results, the newest first, with the total in each row; one row without a result if the page
-- is empty.
-- index: assessment_results_workspace
-- takes: workspace_id text, limit bigint, offset bigint
-- gives: assessment_result
select c.total, r.*
from (select count(*) as total from assessment_results where workspace_id = :workspace_id) c
left join (
    select :assessment_result_columns(), r.position
    from assessment_results r
    join workspaces w on w.id = r.workspace_id
    where r.workspace_id = :workspace_id
    order by r.position desc
    limit :limit
    offset :offset
) r on true
order by r.position desc;

-- statement: assessment_result_read
-- One result.
-- takes: id text
-- gives: assessment_result
select :assessment_result_columns()
from assessment_results r
join workspaces w on w.id = r.workspace_id
where r.id = :id;

-- statement: assessment_results_of
-- Results by their ids.
-- index: assessment_results_pkey
-- takes: ids text[]
-- gives: assessment_result
select :assessment_result_columns()
from assessment_results r
join workspaces w on w.id = r.workspace_id
where r.id = any(:ids::text[]);

-- statement: workspace_health
-- Whether the workspace is assessed, and when. `refusal`: see runs/assessments/refusals.def.
-- index: runs_workspace
-- takes: workspace_id text, hours bigint
-- gives: workspace_id text, enabled boolean, enforced boolean, refusal text null, next_at timestamptz null,
-- result_id text null, run_id text null
select w.id as workspace_id, :assessment_enabled(w, o) as enabled,
    coalesce((o.settings ->> 'assessments-enforced')::boolean, false) as enforced,
    :assessment_refusal(w, o) as refusal,
    case when w.assess_at is not null then greatest(w.assess_at, :assessment_due(w, o)) end as next_at,
    w.assessment_id as result_id, a.run_id
from workspaces w
join organizations o on o.id = w.organization_id
left join assessments a on a.workspace_id = w.id
where w.id = :workspace_id;
