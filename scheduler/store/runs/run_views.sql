-- SPDX-License-Identifier: MPL-2.0

-- shape: run_view
-- total bigint optional, id text, workspace_id text, organization_id text, position bigint, status text, stage text,
-- stages integer, plan_only boolean, save_plan boolean, auto_apply boolean, allow_empty_apply boolean,
-- has_changes boolean, underway boolean, queued boolean, stopping smallint, holds boolean, ended boolean,
-- status_timestamps jsonb, canceled_at timestamptz null, force_cancel_available_at timestamptz null, saved boolean,
-- ended_at timestamptz null, created_at timestamptz, updated_at timestamptz, assessment boolean, query boolean,
-- test boolean, hold_stop smallint null,
-- hold_engine_ended boolean, hold_past_deadline boolean, hold_settled boolean, hold_restored boolean,
-- hold_unrecorded boolean, rights bigint, configuration_version_id text, message text, source text,
-- trigger_reason text, is_destroy boolean, refresh boolean, refresh_only boolean,
-- allow_config_generation boolean, json_log boolean, target_addrs jsonb null, replace_addrs jsonb null,
-- policy_paths jsonb, invoke_action_addrs jsonb, terraform_version text, variables_sealed bytea null,
-- error text null, created_by text null, confirmed_by text null, canceled_by text null, applied jsonb null,
-- base_state_id text null, cooled_off boolean, queue_position bigint, task_stages jsonb,
-- cost_estimate_id text null, policy_checks jsonb, comments jsonb, events jsonb

-- fragment: run_view(rights)
-- The columns of the shape run_view, of a run r with run_view_joins. `rights`: an expression of the requester's rights
-- in the run's workspace. Most runs have no optional stages, and so no task stages, cost estimates or policies: the
-- conditions on r.stages skip these lookups.
select r.*, :hold_columns(), :rights as rights,
    i.configuration_version_id, i.message, i.source, i.trigger_reason, i.is_destroy, i.refresh, i.refresh_only,
    i.allow_config_generation, i.json_log, i.target_addrs, i.replace_addrs, i.policy_paths, i.invoke_action_addrs,
    coalesce(nullif(p.terraform_version, ''), i.terraform_version) as terraform_version,
    i.variables_sealed, i.error, i.created_by, i.confirmed_by, i.canceled_by,
    case
        when r.status in ('canceled', 'force_canceled') and r.stage in ('apply', 'post_apply') then (
            select jsonb_build_array(a.additions, a.changes, a.destructions)
            from operations a
            where a.id = 'apply' || substr(r.id, 4)
        )
    end as applied,
    p.base_state_id,
    coalesce(r.force_cancel_available_at <= now(), false) as cooled_off,
    case
        when r.queued then 1 + (
            select count(*)
            from runs b
            where b.workspace_id = r.workspace_id and b.queued and b.position < r.position
        )
        else 0
    end as queue_position,
    case
        when r.stages = 0 then '[]'
        else (
            select coalesce(
                jsonb_agg(
                    t.id order by array_position(array['pre_plan', 'post_plan', 'pre_apply', 'post_apply'], t.stage)),
                '[]')
            from task_stages t
            where t.run_id = r.id
        )
    end as task_stages,
    case
        when r.stages = 0 then null
        else (select ce.id from cost_estimates ce where ce.run_id = r.id)
    end as cost_estimate_id,
    case
        when r.stages = 0 then '[]'
        else (
            select coalesce(jsonb_agg(e.id), '[]')
            from policy_evaluations e
            where e.run_id = r.id and e.kind = 'sentinel'
        )
    end as policy_checks,
    array_to_json(array(select c.id from comments c where c.run_id = r.id order by c.created_at)) as comments,
    array_to_json(array(select e.id from run_events e where e.run_id = r.id order by e.created_at)) as events;

-- fragment: run_view_joins()
join run_inputs i on i.run_id = r.id
join operations p on p.id = 'plan' || substr(r.id, 4) :hold_join();

-- fragment: run_view_of(user)
-- The columns of run_view for a requester.
:run_view({:rights_in_workspace(:user, r.organization_id, r.workspace_id)});

-- statement: run_view
-- One run.
-- index: comments_run, cost_estimates_run_id_key, policy_evaluations_run_id_kind_key, run_events_run,
-- runs_queue, task_stages_run_id_stage_key
-- takes: run_id text, user text
-- gives: run_view
:run_view_of(:user) from runs r :run_view_joins() where r.id = :run_id;

-- statement: run_view_for_all_rights
-- The same for requesters with all rights. PostgreSQL initializes every subquery of a statement, also those that a
-- `case` skips. So this statement has no lookup of rights.
-- index: comments_run, cost_estimates_run_id_key, policy_evaluations_run_id_kind_key, run_events_run,
-- runs_queue, task_stages_run_id_stage_key
-- takes: run_id text
-- gives: run_view
:run_view(-1::bigint) from runs r :run_view_joins() where r.id = :run_id;

-- statement: run_views_of
-- Runs by their ids.
-- index: comments_run, cost_estimates_run_id_key, policy_evaluations_run_id_kind_key, run_events_run,
-- runs_queue, task_stages_run_id_stage_key
-- takes: ids text[], user text
-- gives: run_view
:run_view_of(:user) from runs r :run_view_joins() where r.id = any(:ids::text[]);

-- statement: run_belongs
-- A row if the workspace has such a run.
-- index: runs_workspace
-- takes: run_id text, workspace_id text
select 1 from runs where id = :run_id and workspace_id = :workspace_id;

-- fragment: run_operation()
-- For lists with a filter (struct run_filter): the value for `operation`, computed from a run's row.
case
    when r.plan_only then 'plan_only'
    when i.refresh_only then 'refresh_only'
    when i.is_destroy then 'destroy'
    when r.allow_empty_apply then 'empty_apply'
    when r.save_plan then 'save_plan'
    else 'plan_and_apply'
end;

-- fragment: run_creator()
-- The creator's name in lower case.
(select coalesce(max(lower(u.username)), '') from users u where u.id = i.created_by);

-- fragment: run_sender()
-- The name that the provider knows the commit's sender by, in lower case.
(
    select coalesce(max(lower(k.detail ->> 'sender-username')), '')
    from configuration_commits k
    where k.configuration_version_id = i.configuration_version_id
);

-- fragment: run_is_of_commit(text)
-- The runs of commits whose hashes begin with the text, in the order of configuration_commits_sha: no hexadecimal digit
-- is greater than f.
r.id in (
    select c.run_id
    from configuration_commits k
    join run_inputs c on c.configuration_version_id = k.configuration_version_id
    where k.sha >= lower(:text) and k.sha < lower(:text) || 'g'
);

-- fragment: run_filter_organization()
-- The filter of one workspace's runs has no organization.
coalesce(:organization_id::text, (select organization_id from workspaces where id = :workspace_id));

-- fragment: runs_where(among)
-- The conditions on the run's row. Plans are generic (db/db.c), so `among` states the condition that an index serves,
-- without parameters that may be null.
where :among
    and :run_is_shown(r)
    and (:workspace_id::text is null or r.workspace_id = :workspace_id)
    and (:status::text is null or r.status = any(string_to_array(:status, ',')))
    and (
        :status_group::text is null
        or case when r.ended then 'final' else 'non_final' end = any(string_to_array(:status_group, ','))
        or r.status in (
            'pending', 'planned', 'planned_and_saved', 'cost_estimated', 'policy_checked', 'policy_override',
            'post_plan_running', 'post_plan_completed'
        ) and 'discardable' = any(string_to_array(:status_group, ','))
    )
    and (
        :workspace_names::text is null
        or r.workspace_id in (
            select id
            from workspaces w
            where w.organization_id = :run_filter_organization()
                and w.name = any(string_to_array(:workspace_names, ','))
        )
    )
    and (not :queue::boolean or not r.ended and r.status <> 'planned_and_saved')
    and (:year::bigint = 0 or extract(year from r.created_at at time zone 'UTC') = :year)
    and (not :past_year::boolean or r.created_at > now() - interval '1 year')
    and (:commit::text is null or :run_is_of_commit(:commit))
    and :runs_in_scope(:everywhere, :user, r.workspace_id);

-- fragment: and_inputs()
-- The conditions on the run's inputs i.
and case
        when :operation::text is null then not r.plan_only or :queue
        else :run_operation() = any(string_to_array(:operation, ','))
    end
    and (:source::text is null or i.source = any(string_to_array(:source, ',')))
    and (
        :search::text is null
        or r.id = :search
        or strpos(lower(i.message), lower(:search)) > 0
        or strpos(:run_creator(), lower(:search)) > 0
        or strpos(:run_sender(), lower(:search)) > 0
        or length(:search) >= 7 and :run_is_of_commit(:search)
    )
    and (
        :pool_names::text is null
        or i.pool_id in (
            select id
            from agent_pools p
            where p.organization_id = :run_filter_organization()
                and p.name = any(string_to_array(:pool_names, ','))
        )
    )
    and (
        :creator::text is null
        or strpos(:run_creator(), lower(:creator)) > 0
        or strpos(:run_sender(), lower(:creator)) > 0
    );

-- fragment: and_no_inputs()
-- In place of and_inputs if the filter does not refer to inputs.
and coalesce(:operation::text, :source::text, :search::text, :pool_names::text, :creator::text) is null
    and (not r.plan_only or :queue);

-- fragment: join_inputs()
join run_inputs i on i.run_id = r.id;

-- fragment: runs_page(joins, conditions, direction)
-- The page is selected before the other columns are looked up, so that skipped runs need no lookups.
:run_view_of(:user)
from (
    select r.*
    from runs r :joins :conditions
    order by r.position :direction
    limit :limit
    offset :offset
) r :run_view_joins()
order by r.position :direction;

-- fragment: runs_count(joins, conditions)
select count(*) as total from runs r :joins :conditions;

-- fragment: in_workspace()
r.workspace_id = :workspace_id;

-- fragment: in_organization()
r.organization_id = :organization_id;

-- fragment: live()
:in_organization() and not r.ended;

-- statement: runs_page_queue
-- The runs that wait or hold, the longest waiting first.
-- index: comments_run, configuration_commits_sha, cost_estimates_run_id_key,
-- policy_evaluations_run_id_kind_key, run_events_run, run_inputs_configuration
-- takes: organization_id text, workspace_id text, status text, status_group text, operation text, source text,
-- workspace_names text, search text, queue boolean, pool_names text, creator text, year bigint,
-- past_year boolean, commit text, everywhere boolean, user text, limit bigint, offset bigint
-- gives: run_view
:runs_page({}, :runs_where(:live()) :and_no_inputs(), {});

-- statement: runs_page_queue_by_inputs
-- The same with conditions on inputs.
-- index: agent_pools_organization, comments_run, configuration_commits_sha, cost_estimates_run_id_key,
-- policy_evaluations_run_id_kind_key, run_events_run
-- takes: like runs_page_queue
-- gives: run_view
:runs_page(:join_inputs(), :runs_where(:live()) :and_inputs(), {});

-- statement: runs_page_workspace
-- The runs of a workspace, the newest first.
-- index: comments_run, configuration_commits_sha, cost_estimates_run_id_key,
-- policy_evaluations_run_id_kind_key, run_events_run, run_inputs_configuration
-- takes: like runs_page_queue
-- gives: run_view
:runs_page({}, :runs_where(:in_workspace()) :and_no_inputs(), desc);

-- statement: runs_page_workspace_by_inputs
-- The same with conditions on inputs.
-- index: agent_pools_organization, comments_run, configuration_commits_sha, cost_estimates_run_id_key,
-- policy_evaluations_run_id_kind_key, run_events_run
-- takes: like runs_page_queue
-- gives: run_view
:runs_page(:join_inputs(), :runs_where(:in_workspace()) :and_inputs(), desc);

-- statement: runs_page_live
-- The runs of an organization that have not ended, the newest first.
-- index: comments_run, configuration_commits_sha, cost_estimates_run_id_key,
-- policy_evaluations_run_id_kind_key, run_events_run, run_inputs_configuration
-- takes: like runs_page_queue
-- gives: run_view
:runs_page({}, :runs_where(:live()) :and_no_inputs(), desc);

-- statement: runs_page_live_by_inputs
-- The same with conditions on inputs.
-- index: agent_pools_organization, comments_run, configuration_commits_sha, cost_estimates_run_id_key,
-- policy_evaluations_run_id_kind_key, run_events_run
-- takes: like runs_page_queue
-- gives: run_view
:runs_page(:join_inputs(), :runs_where(:live()) :and_inputs(), desc);

-- statement: runs_page_organization
-- The runs of an organization, the newest first.
-- index: comments_run, configuration_commits_sha, cost_estimates_run_id_key,
-- policy_evaluations_run_id_kind_key, run_events_run, run_inputs_configuration
-- takes: like runs_page_queue
-- gives: run_view
:runs_page({}, :runs_where(:in_organization()) :and_no_inputs(), desc);

-- statement: runs_page_organization_by_inputs
-- The same with conditions on inputs.
-- index: agent_pools_organization, comments_run, configuration_commits_sha, cost_estimates_run_id_key,
-- policy_evaluations_run_id_kind_key, run_events_run
-- takes: like runs_page_queue
-- gives: run_view
:runs_page(:join_inputs(), :runs_where(:in_organization()) :and_inputs(), desc);

-- statement: runs_count_workspace
-- The number of the runs of runs_page_workspace.
-- index: configuration_commits_sha, run_inputs_configuration, runs_workspace, team_members_user,
-- team_projects_team, team_workspaces_team
-- takes: organization_id text, workspace_id text, status text, status_group text, operation text, source text,
-- workspace_names text, search text, queue boolean, pool_names text, creator text, year bigint,
-- past_year boolean, commit text, everywhere boolean, user text
-- gives: runs_total
:runs_count({}, :runs_where(:in_workspace()) :and_no_inputs());

-- statement: runs_count_workspace_by_inputs
-- The same with conditions on inputs.
-- index: agent_pools_organization, configuration_commits_sha, run_inputs_configuration, runs_workspace,
-- team_members_user, team_projects_team
-- takes: like runs_count_workspace
-- gives: runs_total
:runs_count(:join_inputs(), :runs_where(:in_workspace()) :and_inputs());

-- statement: runs_count_live
-- The number of the runs of runs_page_live.
-- index: configuration_commits_sha, run_inputs_configuration, runs_live, team_members_user, team_projects_team,
-- team_workspaces_team
-- takes: like runs_count_workspace
-- gives: runs_total
:runs_count({}, :runs_where(:live()) :and_no_inputs());

-- statement: runs_count_live_by_inputs
-- The same with conditions on inputs.
-- index: agent_pools_organization, configuration_commits_sha, run_inputs_configuration, runs_live,
-- team_members_user, team_projects_team
-- takes: like runs_count_workspace
-- gives: runs_total
:runs_count(:join_inputs(), :runs_where(:live()) :and_inputs());

-- statement: runs_count_organization
-- The number of the runs of runs_page_organization.
-- index: configuration_commits_sha, run_inputs_configuration, runs_organization, team_members_user,
-- team_projects_team, team_workspaces_team
-- takes: like runs_count_workspace
-- gives: runs_total
:runs_count({}, :runs_where(:in_organization()) :and_no_inputs());

-- statement: runs_count_organization_by_inputs
-- The same with conditions on inputs.
-- index: agent_pools_organization, configuration_commits_sha, run_inputs_configuration, runs_organization,
-- team_members_user, team_projects_team
-- takes: like runs_count_workspace
-- gives: runs_total
:runs_count(:join_inputs(), :runs_where(:in_organization()) :and_inputs());

-- shape: runs_total
-- total bigint

-- statement: runs_count
-- The same without a filter.
-- index: runs_workspace
-- takes: workspace_id text
-- gives: runs_total
select count(*) as total from runs where workspace_id = :workspace_id and not plan_only;

-- statement: runs_recent_of
-- The last runs of each workspace whose runs the requester may read, the newest first; found in runs_workspace.
-- index: runs_workspace, team_members_user, team_projects_project, team_workspaces_workspace,
-- teams_organization
-- takes: workspace_ids text[], user text
-- gives: workspace_id text, runs jsonb
select w.id as workspace_id,
    (
        select coalesce(jsonb_agg(jsonb_build_object('id', r.id, 'status', r.status) order by r.position desc), '[]')
        from (
            select id, status, position
            from runs
            where workspace_id = w.id and not plan_only
            order by position desc
            limit 10
        ) r
    ) as runs
from workspaces w
where w.id = any(:workspace_ids::text[])
    and :scope_has(:user, :rights_in_workspace(:user, w.organization_id, w.id), 2);

-- statement: query_runs_list
-- One page of a workspace's query runs, the newest first, with the total in each row; one row without a run if the page
-- is empty.
-- index: comments_run, cost_estimates_run_id_key, policy_evaluations_run_id_kind_key, run_events_run, runs_queries,
-- runs_queue, task_stages_run_id_stage_key
-- takes: workspace_id text, user text, limit bigint, offset bigint
-- gives: run_view
select c.total, q.*
from (select count(*) as total from runs where workspace_id = :workspace_id and query) c
left join (:runs_page({}, {where r.workspace_id = :workspace_id and r.query}, desc)) q on true
order by q.position desc;

-- shape: operation
-- id text, run_id text, status text, status_timestamps jsonb, additions integer null, changes integer null,
-- destructions integer null, imports integer null, terraform_version text null, worker_id text null,
-- worker_name text null, log_length bigint, log_ended boolean, base_state_id text null,
-- generated_configuration boolean, log_blob text null, log_deleted_at timestamptz null,
-- plan_deleted_at timestamptz null, upload_hash text null, engine text, organization_id text,
-- workspace_id text, has_changes boolean, json_log boolean, states jsonb, kept_states jsonb, exports jsonb,
-- pool_id text null, pool_name text null, by_agents boolean

-- fragment: operation_view()
-- The columns of the shape operation.
select o.*, r.organization_id, r.workspace_id, r.has_changes, i.json_log,
    (
        select coalesce(jsonb_agg(s.id order by s.created_at desc), '[]')
        from state_versions s
        where s.run_id = o.run_id and s.status <> 'detached'
    ) as states,
    (
        select coalesce(jsonb_agg(s.id), '[]')
        from state_versions s
        where s.run_id = o.run_id and s.status = 'detached'
    ) as kept_states,
    (
        select coalesce(jsonb_agg(e.id order by e.created_at desc), '[]')
        from plan_exports e
        where e.run_id = o.run_id
    ) as exports,
    i.pool_id, a.name as pool_name, a.organization_id is not null as by_agents
from operations o
join runs r on r.id = o.run_id
join run_inputs i on i.run_id = o.run_id
left join agent_pools a on a.id = i.pool_id;

-- statement: operation_view
-- One plan or apply; not that of a test run, which only its module shows.
-- index: plan_exports_run, state_versions_detached, state_versions_run
-- takes: operation_id text
-- gives: operation
:operation_view() where o.id = :operation_id and not r.test;

-- statement: operation_views_of
-- Plans and applies by their ids.
-- index: plan_exports_run, state_versions_detached, state_versions_run
-- takes: ids text[]
-- gives: operation
:operation_view() where o.id = any(:ids::text[]);

-- statement: run_secrets
-- The sealed variables of the run, and of the one that wrote the state on which its plan is based.
-- index: operations_pkey, run_inputs_pkey, state_versions_pkey
-- takes: run_id text
-- gives: run_id text, snapshot_sealed bytea
select run_id, snapshot_sealed
from run_inputs
where run_id = :run_id
    or run_id = (
        select s.run_id
        from operations o
        join state_versions s on s.id = o.base_state_id
        where o.id = 'plan' || substr(:run_id, 4)
    );

-- shape: site_run
-- id text, workspace_id text, organization_name text, status text, status_timestamps jsonb,
-- has_changes boolean, created_at timestamptz

-- fragment: site_runs()
select r.id, r.workspace_id, o.name as organization_name, r.status, r.status_timestamps, r.has_changes,
    r.created_at
from runs r
join organizations o on o.id = r.organization_id
join workspaces w on w.id = r.workspace_id;

-- statement: site_run
-- One run of any organization.
-- index: organizations_pkey, runs_pkey, workspaces_pkey
-- takes: run_id text, limit bigint, offset bigint
-- gives: site_run
:site_runs() where r.id = :run_id limit :limit offset :offset;

-- statement: site_runs_list
-- The newest first. `statuses`: separated by commas.
-- index: runs_position
-- takes: statuses text, search text, from timestamptz, to timestamptz, limit bigint, offset bigint
-- gives: site_run
:site_runs()
where :run_is_shown(r)
    and (:statuses::text is null or r.status = any(string_to_array(:statuses, ',')))
    and (
        :search::text is null
        or strpos(lower(w.name), lower(:search)) > 0
        or strpos(lower(o.name), lower(:search)) > 0
    )
    and (:from::timestamptz is null or r.created_at >= :from)
    and (:to::timestamptz is null or r.created_at <= :to)
order by r.position desc
limit :limit
offset :offset;
