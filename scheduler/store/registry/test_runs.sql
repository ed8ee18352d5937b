-- SPDX-License-Identifier: MPL-2.0

-- shape: test_run
-- total bigint optional, id text, module_id text null, organization_id text, organization_name text, status text,
-- stage text, stages integer, plan_only boolean, assessment boolean, query boolean, test boolean,
-- save_plan boolean, auto_apply boolean, allow_empty_apply boolean, has_changes boolean, underway boolean,
-- queued boolean, stopping smallint, cooled_off boolean, status_timestamps jsonb, created_at timestamptz,
-- updated_at timestamptz, configuration_version_id text, message text, source text, options jsonb null,
-- variables_sealed bytea null, error text null, created_by text null, finished boolean, passed integer null,
-- failed integer null, errored integer null, skipped integer null, terraform_version text null

-- fragment: test_run_select()
-- Test runs `r` in the test beds `w` of modules.
select r.id, w.module_id, r.organization_id, o.name as organization_name, r.status, r.stage, r.stages, r.plan_only,
    r.assessment, r.query, r.test, r.save_plan, r.auto_apply, r.allow_empty_apply, r.has_changes, r.underway, r.queued,
    r.stopping, coalesce(r.force_cancel_available_at <= now(), false) as cooled_off, r.status_timestamps, r.created_at,
    r.updated_at, i.configuration_version_id, i.message, i.source, i.test as options, i.variables_sealed, i.error,
    i.created_by, r.status = 'planned_and_finished' as finished, p.additions as passed, p.changes as failed,
    p.destructions as errored, p.imports as skipped, p.terraform_version
from runs r
join run_inputs i on i.run_id = r.id
join operations p on p.id = 'plan' || substr(r.id, 4)
join workspaces w on w.id = r.workspace_id
join organizations o on o.id = r.organization_id;

-- statement: test_run_read
-- The module's test run of that id.
-- index: operations_pkey, organizations_pkey, run_inputs_pkey, runs_pkey, workspaces_module
-- takes: module_id text, run_id text
-- gives: test_run
:test_run_select() where r.id = :run_id and r.test and w.module_id = :module_id;

-- statement: test_runs_list
-- One page of the module's test runs, the newest first, with the total in each row; a row with a null id if the page is
-- empty. `sources`: separated by commas; null: all.
-- index: operations_pkey, organizations_pkey, run_inputs_pkey, runs_tests, workspaces_module
-- takes: module_id text, sources text, limit bigint, offset bigint
-- gives: test_run
with found as (
    select r.id, r.position
    from runs r
    join run_inputs i on i.run_id = r.id
    where r.workspace_id = (select id from workspaces where module_id = :module_id) and r.test
        and (:sources::text is null or i.source = any(string_to_array(:sources, ',')))
)
select t.total, f.*
from (select count(*) as total from found) t
left join (
    select x.*, c.position
    from (select id, position from found order by position desc limit :limit offset :offset) c
    join (:test_run_select()) x on x.id = c.id
) f on true
order by f.position desc;
