-- SPDX-License-Identifier: MPL-2.0

-- statement: plan_export_create
-- Adds no row if the plan has no JSON.
-- index: operation_blobs_pkey, operations_pkey
-- takes: id text, plan_id text, data_type text, user_id text
insert into plan_exports (id, run_id, data_type, created_by, expires_at)
select :id, run_id, :data_type, :user_id, now() + interval '1 hour'
from operations
where id = :plan_id and exists (select 1 from operation_blobs where operation_id = :plan_id and kind = 'json');

-- shape: plan_export
-- id text, run_id text, data_type text, created_by text null, expires_at timestamptz,
-- created_at timestamptz, plan_id text, json_blob text null, schemas_blob text null, expired boolean,
-- organization_id text, workspace_id text

-- statement: plan_export_read
-- One export, with its plan's JSON and schemas.
-- takes: id text
-- gives: plan_export
select e.*, o.id as plan_id, b.blob_id as json_blob, s.blob_id as schemas_blob,
    e.expires_at <= now() as expired, r.organization_id, r.workspace_id
from plan_exports e
join runs r on r.id = e.run_id
join operations o on o.id = 'plan' || substr(r.id, 4)
left join operation_blobs b on b.operation_id = o.id and b.kind = 'json'
left join operation_blobs s on s.operation_id = o.id and s.kind = 'schemas'
where e.id = :id;

-- statement: plan_export_delete
-- Deletes an export.
-- index: plan_exports_pkey
-- takes: id text
delete from plan_exports where id = :id;
