-- SPDX-License-Identifier: MPL-2.0

-- fragment: vcs_connection_available(in_project)
-- Whether the connection of the repository may be used: in all projects, or in this one.
coalesce(
    (
        select c.organization_scoped or :in_project
        from vcs_repositories v
        join vcs_connections c on c.id = v.connection_id
        where v.id = :repository_id
    ), true);

-- fragment: vcs_subjects(of_workspace, of_policy_set)
-- Workspaces are found by workspace_repositories_repository, their heads by the key of vcs_heads, their runs by
-- an index that begins with the workspace.
select w.id, false as policy_set, w.module_id is not null as test_bed,
    coalesce(b.source_directory, '') as directory, a.branch, a.tags_regex,
    a.ingress_submodules as submodules, w.settings, w.working_directory as folder,
    null::jsonb as patterns, w.locked_by is not null as locked,
    coalesce((select true from runs r where r.workspace_id = w.id and not r.query limit 1), false) as had_run,
    coalesce((o.settings ->> 'speculative-plan-management-enabled')::boolean, true) as cancels,
    h.workspace_id is not null as has_head,
    coalesce(h.created_at >= (select e.created_at from vcs_events e where e.id = :event_id), false) as head_newer,
    coalesce(r.status = 'canceled', false) as head_canceled, coalesce(r.ended, false) as head_ended,
    coalesce(
        (select s.fork_pool_id from vcs_repository_pools s where s.repository_id = :repository_id) <>
        coalesce(w.pool_id, ''), false) as has_fork_pool,
    exists (
        select 1
        from vcs_outcomes u
        where u.event_id = :event_id and u.subject_id = w.id and u.run_id is not null
    ) as is_made,
    exists (
        select 1
        from vcs_pull_requests p
        where p.repository_id = :repository_id and p.number = :pull_request and p.approved_sha = :sha
            and w.id = any(p.approved_workspaces)
    ) as approved,
    :vcs_connection_available({exists (
        select 1
        from vcs_connection_projects m
        where m.connection_id = c.id and m.project_id = w.project_id
    )}) as available
from workspace_repositories a
join workspaces w on w.id = a.workspace_id
join organizations o on o.id = w.organization_id
left join registry_modules b on b.id = w.module_id
left join vcs_heads h on h.workspace_id = w.id and h.kind = :kind and h.pull_request = :pull_request
    and h.sha = :sha
left join runs r on r.id = h.run_id
where a.repository_id = :repository_id and :of_workspace
union all
select s.id, true, false, '', a.branch, '', a.ingress_submodules, s.settings, coalesce(s.policies_path, ''),
    a.update_patterns, false, true, false,
    coalesce(
        (
            select true
            from policy_set_version_commits k
            join policy_set_versions v on v.id = k.policy_set_version_id
            where k.sha = :sha and v.id = s.newest_version_id
        ), false),
    false, false, false, false,
    exists (
        select 1
        from policy_set_version_commits k
        where k.policy_set_version_id = s.newest_version_id and k.sha = :sha and k.event_id = :event_id
    ),
    false, :vcs_connection_available(false) as available
from policy_set_repositories a
join policy_sets s on s.id = a.policy_set_id
where a.repository_id = :repository_id and :of_policy_set
order by 1;

-- shape: vcs_subject
-- id text, policy_set boolean, test_bed boolean, directory text, branch text, tags_regex text, submodules boolean,
-- settings jsonb, folder text, patterns jsonb null, locked boolean, had_run boolean, cancels boolean,
-- has_head boolean, head_newer boolean, head_canceled boolean, head_ended boolean, has_fork_pool boolean,
-- is_made boolean, approved boolean, available boolean

-- statement: vcs_subjects_read
-- The workspaces and policy sets that are attached to the repository, by id. :kind, :pull_request, :sha and
-- :event_id are those of a head, which heads.h describes. :subject_id is null.
-- index: policy_set_repositories_repository, policy_set_version_commits_event, runs_workspace,
-- vcs_outcomes_subject, vcs_pull_requests_state, workspace_repositories_repository
-- takes: repository_id text, subject_id text, kind text, pull_request bigint, sha text, event_id text
-- gives: vcs_subject
:vcs_subjects({:subject_id::text is null}, {:subject_id::text is null});

-- statement: vcs_subject_read
-- The same for one of them. It is a separate statement, because PostgreSQL would compare a parameter that may
-- be null with each workspace of the repository.
-- index: policy_set_repositories_repository, policy_set_version_commits_event, runs_workspace,
-- vcs_outcomes_subject, vcs_pull_requests_state, workspace_repositories_repository
-- takes: like vcs_subjects_read
-- gives: vcs_subject
:vcs_subjects(a.workspace_id = :subject_id, a.policy_set_id = :subject_id);

-- fragment: vcs_outcome_rows()
jsonb_to_recordset(:outcomes::jsonb) as u(
    subject_id text, reason text, run_id text, configuration_version_id text);

-- statement: vcs_outcomes_write
-- Replaces earlier outcomes of the event in the same subjects, but for those with a run.
-- takes: event_id text, outcomes jsonb
insert into vcs_outcomes (event_id, subject_id, reason, run_id, configuration_version_id)
select :event_id, u.subject_id, u.reason, u.run_id, u.configuration_version_id
from :vcs_outcome_rows()
on conflict (event_id, subject_id) do update set reason = excluded.reason, run_id = excluded.run_id,
    configuration_version_id = excluded.configuration_version_id
where vcs_outcomes.run_id is null;

-- statement: vcs_heads_write
-- Records the commit as a head of the workspaces whose outcome has a configuration version.
-- takes: event_id text, outcomes jsonb, kind text, pull_request bigint, sha text
insert into vcs_heads (workspace_id, kind, pull_request, sha, event_id, run_id)
select u.subject_id, :kind, :pull_request, :sha, :event_id, u.run_id
from :vcs_outcome_rows()
where u.configuration_version_id is not null
on conflict (workspace_id, kind, pull_request, sha) do update set event_id = excluded.event_id,
    run_id = coalesce(excluded.run_id, vcs_heads.run_id);

-- fragment: earlier_heads()
from unnest(:workspace_ids::text[]) u(id)
join vcs_heads h on h.workspace_id = u.id and h.kind = 'pull_request' and h.pull_request = :pull_request
join runs r on r.id = h.run_id;

-- shape: vcs_earlier_run
-- id text

-- statement: vcs_earlier_pending
-- Pending runs of pushes to the branch, of other commits.
-- index: runs_queue
-- takes: workspace_ids text[], branch text, sha text, pull_request bigint
-- gives: vcs_earlier_run
select r.id
from unnest(:workspace_ids::text[]) u(id)
join runs r on r.workspace_id = u.id and r.queued and not r.plan_only and r.status = 'pending'
join run_inputs i on i.run_id = r.id
join configuration_commits k on k.configuration_version_id = i.configuration_version_id
where k.branch = :branch and k.sha <> :sha and not k.is_pull_request and :pull_request::bigint is not null
order by r.id;

-- statement: vcs_earlier_heads
-- Plan-only runs of other heads of the pull request that have not ended.
-- index: runs_pkey, vcs_heads_pkey
-- takes: like vcs_earlier_pending
-- gives: vcs_earlier_run
select r.id :earlier_heads()
where h.sha <> :sha and not r.ended and r.plan_only and :branch::text is not null
order by r.id;

-- statement: vcs_earlier_all
-- All plan-only runs of the pull request that have not ended.
-- index: runs_pkey, vcs_heads_pkey
-- takes: like vcs_earlier_pending
-- gives: vcs_earlier_run
select r.id :earlier_heads()
where not r.ended and r.plan_only and :branch::text is not null and :sha::text is not null
order by r.id;
