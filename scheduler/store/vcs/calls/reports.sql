-- SPDX-License-Identifier: MPL-2.0

-- fragment: report_name(w)
-- What statuses call the workspace `w`: a test bed has no name of its own.
coalesce((select 'tests of ' || m.name || '/' || m.provider from registry_modules m where m.id = :w.module_id),
    :w.name);

-- statement: vcs_event_note
-- Records that an event's outcomes were stored or changed.
-- takes: event_id text
insert into vcs_notes (event_id) values (:event_id);

-- statement: vcs_reports_renew
-- Of an event; :check_stages: the bits of the stages that are checks. Inserts a row per context, or makes a new
-- version of it. A context links to the pull request's event if there is one. Applies have a context if the
-- organization's setting is on and the event made a run that may apply.
-- reads: site_settings
-- takes: event_id text, check_stages integer
with e as (
    select e.id, e.repository_id, e.sha, coalesce(e.pull_request, 0) as pull_request,
        'Runyard/' || o.name as context,
        coalesce((o.settings ->> 'aggregated-commit-status-enabled')::boolean, true) as aggregated,
        coalesce(
            (o.settings ->> 'send-passing-statuses-for-untriggered-speculative-plans')::boolean,
            (
                select (x.settings ->> 'send-passing-statuses-for-untriggered-speculative-plans')::boolean
                from site_settings x
            ), false) as untouched,
        coalesce((o.settings ->> 'vcs-apply-status-enabled')::boolean, false) as applies
    from vcs_events e
    join organizations o on o.id = e.organization_id
    join vcs_repositories v on v.id = e.repository_id
    left join vcs_connections c on c.id = v.connection_id
    where e.id = :event_id and e.sha <> '' and e.kind in ('push', 'tag', 'pr_open', 'pr_update')
        and c.provider is distinct from 'git'
),
made as (
    select e.repository_id, e.sha, e.context, null as workspace_id, '' as stage, e.pull_request, e.id
    from e
    where e.aggregated
    union all
    select e.repository_id, e.sha, e.context || '/apply', null, 'apply', 0, e.id
    from e
    where e.aggregated and e.applies
        and exists (
            select 1
            from vcs_outcomes u
            join runs n on n.id = u.run_id
            where u.event_id = e.id and not n.plan_only
        )
    union all
    select e.repository_id, e.sha, e.context || '/' || :report_name(w) || '/' || s.stage, w.id, s.stage,
        e.pull_request, e.id
    from e
    join vcs_outcomes u on u.event_id = e.id
    join workspaces w on w.id = u.subject_id
    left join runs n on n.id = u.run_id
    cross join (values ('plan'), ('checks'), ('apply')) as s(stage)
    where not e.aggregated and (n.id is not null or e.untouched and e.pull_request > 0) and case s.stage
        when 'plan' then true when 'checks' then (n.stages & :check_stages) <> 0 else e.applies
        and not n.plan_only end
)
insert into vcs_reports as r(repository_id, sha, context, workspace_id, stage, pull_request, event_id)
select *
from made
order by context
on conflict (repository_id, sha, context) do update set version = r.version + 1, error = null,
    due_at = greatest(now(), coalesce(r.sent_at + make_interval(secs => 5 + r.sent_count), now())),
    pull_request = greatest(r.pull_request, excluded.pull_request), event_id = case
    when excluded.pull_request > 0 or r.pull_request = 0 then excluded.event_id else r.event_id end;

-- statement: vcs_runs_note
-- Records the same for the events of these runs.
-- index: vcs_outcomes_run
-- takes: runs text[]
insert into vcs_notes (event_id)
select distinct event_id
from vcs_outcomes
where run_id = any(:runs::text[]);

-- statement: vcs_notes_take
-- Takes recorded events, in one order, so that two schedulers do not wait for each other in a circle.
-- index: vcs_events_pkey, vcs_notes_pkey
-- takes: max bigint
-- gives: id text, repository_id text null, sha text
with gone as (
    delete from vcs_notes
    where sequence = any(
        array(select sequence from vcs_notes order by sequence limit :max for update skip locked))
    returning event_id
)
select distinct e.id, e.repository_id, e.sha
from gone g
join vcs_events e on e.id = g.event_id
order by e.repository_id, e.sha, e.id;

-- statement: vcs_reports_enqueue
-- Inserts the calls of reports that are due, at most :max. They wait until the end of the provider's pause.
-- index: vcs_reports_due
-- takes: like vcs_lookups_enqueue
:calls_insert({organization_id, connection_id, installation_id, repository_id, subject, due_at},
    {v.organization_id, v.connection_id, v.installation_id, v.id, r.sha || ' ' || r.context,
        greatest(now(), coalesce(l.blocked_until, now()))
    from (
        select *
        from vcs_reports
        where sent_version < version and due_at <= now()
        order by due_at
        limit :max
    ) r
    join vcs_repositories v on v.id = r.repository_id
    left join vcs_limits l on l.owner_id = coalesce(v.connection_id, v.installation_id)});

-- statement: vcs_report_runs
-- Counts the newest run of each workspace for the commit, by the columns that determine the status. Counts the
-- commit's events by state and level. With :applies, only runs that may apply count, and no events of pull
-- requests. `lost`: the run's error is the scheduler's sentence about a lost worker (background/reaper.c).
-- index: vcs_events_commit
-- takes: repository_id text, sha text, workspace_id text, applies boolean
-- gives: status text, stage text, stages integer, lost boolean, tests_failed boolean, count bigint,
-- workspace text, state text, level text
with events as (
    select id, state, level
    from vcs_events
    where repository_id = :repository_id and sha = :sha and (not :applies or pull_request is null)
),
newest as (
    select distinct on (n.workspace_id) n.id, n.workspace_id, n.status, n.stage, n.stages, n.test
    from events e
    join vcs_outcomes u on u.event_id = e.id
    join runs n on n.id = u.run_id
    where (:workspace_id::text is null or n.workspace_id = :workspace_id)
        and not (:applies and n.plan_only)
    order by n.workspace_id, n.position desc
)
select n.status, n.stage, n.stages,
    coalesce(i.error like 'Contact with worker %' or i.error like 'The work of the stage %', false) as lost,
    n.test and coalesce(p.changes + p.destructions, 0) > 0 as tests_failed, count(*) as count,
    min(:report_name(w)) as workspace, null as state, null as level
from newest n
join workspaces w on w.id = n.workspace_id
join run_inputs i on i.run_id = n.id
left join operations p on p.id = 'plan' || substr(n.id, 4)
group by 1, 2, 3, 4, 5
union all
select null, null, null, false, false, count(*), null, state, level
from events
group by state, level;

-- statement: vcs_report_skipped
-- The provider has this status already.
-- index: vcs_reports_pkey
-- takes: repository_id text, sha text, context text, version bigint
update vcs_reports
set sent_version = greatest(sent_version, :version)
where repository_id = :repository_id and sha = :sha and context = :context;

-- statement: vcs_report_lock
-- Locks the report of a context.
-- index: organizations_pkey, vcs_reports_pkey, vcs_repositories_pkey
-- takes: repository_id text, sha text, context text
-- gives: version bigint, sent_version bigint, sent jsonb null, workspace_id text null, stage text,
-- pull_request bigint, event_id text null, app boolean, organization text
select r.version, r.sent_version, r.sent, r.workspace_id, r.stage, r.pull_request, r.event_id,
    v.installation_id is not null as app, o.name as organization
from vcs_reports r
join vcs_repositories v on v.id = r.repository_id
join organizations o on o.id = v.organization_id
where r.repository_id = :repository_id and r.sha = :sha and r.context = :context
for no key update of r;

-- statement: vcs_report_sent
-- A version that was made meanwhile waits the longer, the more the context has sent.
-- index: vcs_reports_pkey
-- takes: repository_id text, sha text, context text, version bigint, sent jsonb, interval_s integer
update vcs_reports r
set sent_version = greatest(sent_version, :version), sent = :sent::jsonb, sent_at = now(),
    sent_count = sent_count + 1, error = null, due_at = case
    when version > :version then now() + make_interval(secs => :interval_s + r.sent_count)
    else due_at end
where repository_id = :repository_id and sha = :sha and context = :context;

-- statement: vcs_report_refused
-- The provider refuses this version: only a new one is sent again.
-- index: vcs_reports_pkey
-- takes: repository_id text, sha text, context text, version bigint, why text
update vcs_reports
set sent_version = greatest(sent_version, :version), error = left(:why, 500)
where repository_id = :repository_id and sha = :sha and context = :context;
