-- SPDX-License-Identifier: MPL-2.0

-- statement: leases_ended
-- Jobs at work whose lease has ended, and the worker that was lost with an earlier attempt.
-- index: jobs_claimed
-- takes: max bigint
-- gives: id text, run_id text, attempt integer, stage text, started boolean, lease_until timestamptz null,
-- lost_before text null, worker text null
select j.id, j.run_id, j.attempt, j.stage, j.started, j.lease_until, j.lost_with[1] as lost_before,
    coalesce(w.name, j.worker_id) as worker
from jobs j
left join workers w on w.id = j.worker_id
where j.state like 'claimed' and j.lease_until < now()
order by j.lease_until
limit :max;

-- statement: queue_lock
-- Locks the workspace.
-- index: workspaces_pkey
-- takes: workspace_id text
select 1 from workspaces where id = :workspace_id for no key update;

-- statement: queue_forget
-- Clears has_queue of a workspace without queued runs.
-- index: runs_queue
-- takes: workspace_id text
update workspaces w
set has_queue = false
where id = :workspace_id
    and not exists (select 1 from runs where workspace_id = w.id and queued and not plan_only);

-- statement: queues_still
-- Workspaces whose queue stands still: nothing is at work, and its first run has waited for 30 s (waits), or no
-- run is queued. In random order, so that queues that fail each time do not keep others out of the limit.
-- index: runs_queue, workspaces_standing
-- reads: maintenance
-- takes: max bigint
-- gives: id text, waits boolean
select w.id, h.updated_at is not null as waits
from workspaces w
left join lateral (
    select updated_at
    from runs
    where workspace_id = w.id and queued and not plan_only
    order by position
    limit 1
) h on true
where w.stands_still
    and coalesce(h.updated_at < now() - interval '30 seconds'
            and (
                select reason is null and not is_resuming and since < now() - interval '30 seconds'
                from maintenance
            ), true)
order by random()
limit :max;

-- statement: workers_forget
-- Workers that have gone are listed for a day.
-- index: workspace_holds_until
-- reads: jobs
delete from workers w
where seen_at < now() - interval '1 day' and not exists (select 1 from jobs where worker_id = w.id)
    and not exists (select 1 from workspace_holds h where :worker_is_awaited(w, h));

-- statement: plan_exports_forget
-- Exports are listed as expired for 7 days.
-- reads: plan_exports
delete from plan_exports where expires_at < now() - interval '7 days';
