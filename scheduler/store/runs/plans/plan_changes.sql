-- SPDX-License-Identifier: MPL-2.0

-- statement: plan_changes_lookup
-- The plan, its JSON and the list of its changes, and its organization's kinds of risk hints.
-- takes: plan_id text
-- gives: run_id text, plan_deleted boolean, organization_id text, workspace_id text, json_blob text null,
-- json_size bigint null, changes_blob text null, risk_types jsonb null
select o.run_id, o.plan_deleted_at is not null as plan_deleted, r.organization_id, r.workspace_id,
    j.blob_id as json_blob, b.size as json_size, c.blob_id as changes_blob,
    g.settings -> 'risk-hint-types' as risk_types
from operations o
join runs r on r.id = o.run_id
join organizations g on g.id = r.organization_id
left join operation_blobs j on j.operation_id = o.id and j.kind = 'json'
left join blobs b on b.id = j.blob_id
left join operation_blobs c on c.operation_id = o.id and c.kind = 'changes'
where o.id = :plan_id;

-- statement: plan_changes_lock
-- Locks the plan's JSON; no row if it is another one by now.
-- index: operation_blobs_blob
-- takes: plan_id text, json_blob text
select 1
from operation_blobs
where operation_id = :plan_id and kind = 'json' and blob_id = :json_blob
for share;

-- statement: plan_changes_keep
-- Adds or replaces the list of changes.
-- takes: plan_id text, blob text
insert into operation_blobs (operation_id, kind, blob_id)
values (:plan_id, 'changes', :blob)
on conflict (operation_id, kind) do update set blob_id = excluded.blob_id;
