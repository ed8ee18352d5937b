-- SPDX-License-Identifier: MPL-2.0

-- statement: resumption_due
-- Workspaces whose queues may go on, and workspaces with plan-only runs. An hour after the end of the
-- maintenance, those that are left are broken ones: they are left to the sweep of queues that stand still.
-- index: runs_queue, workspaces_standing
-- reads: maintenance
-- takes: max bigint
-- gives: workspace_id text
select workspace_id
from (
    select w.id as workspace_id
    from workspaces w
    where w.stands_still
        and exists (select 1 from runs r where r.workspace_id = w.id and r.queued and not r.plan_only)
    limit :max
) q
where (select since > now() - interval '1 hour' from maintenance)
union
select workspace_id
from (
    select workspace_id
    from runs
    where queued and plan_only
    order by workspace_id, position
    limit :max
) p
where (select since > now() - interval '1 hour' from maintenance);
