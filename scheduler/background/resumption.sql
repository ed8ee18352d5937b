-- SPDX-License-Identifier: MPL-2.0

-- statement: waiting_read
-- takes: max_resumed bigint
-- gives: workspace_id text
select workspace_id
from (
    select w.id as workspace_id
    from workspaces w
    where w.stands_still
        and exists (select 1 from runs r where r.workspace_id = w.id and r.queued and not r.plan_only)
    limit :max_resumed
) q
where (select since > now() - interval '1 hour' from maintenance)
union
select workspace_id
from (
    select workspace_id
    from runs
    where queued and plan_only
    order by workspace_id, position
    limit :max_resumed
) p
where (select since > now() - interval '1 hour' from maintenance);
