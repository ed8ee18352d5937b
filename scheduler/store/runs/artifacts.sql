-- SPDX-License-Identifier: MPL-2.0

-- statement: artifacts_of_run
-- takes: id_sibling text
-- gives: json_blob text, schemas_blob text, plan_deleted boolean
select (select blob_id from operation_blobs where operation_id = o.id and kind = 'json') as json_blob,
    (select blob_id from operation_blobs where operation_id = o.id and kind = 'schemas') as schemas_blob,
    o.plan_deleted_at is not null as plan_deleted
from operations o
where o.id = :id_sibling;

-- statement: artifacts_small
-- takes: job_ids text[], small_content bigint, small_contents bigint
-- gives: job_id text, name text, blob_id text null, object_key text null, sealed bytea
with mine as materialized (
    select id, run_id, workspace_id, stage from jobs where id = any(:job_ids::text[])
)
select job_id, name, blob_id, object_key, sealed
from (
    select *, sum(size) over (order by size, job_id, name) as total
    from (
        select j.id as job_id, 'configuration' as name, b.id as blob_id, b.object_key,
            b.bytes_sealed as sealed, b.size
        from mine j, lateral (
            select (select blob_id from configuration_versions where id = i.configuration_version_id)
            from run_inputs i
            where i.run_id = j.run_id
            limit 1
        ) x(id), lateral (select * from blobs where id = x.id limit 1) b
        where j.stage in ('plan', 'apply') and b.object_key is null and b.size <= :small_content
        union all
        select j.id as job_id, 'state' as name, b.id as blob_id, b.object_key, b.bytes_sealed as sealed,
            b.size
        from mine j, lateral (
            select (select blob_id from state_versions where id = w.current_state_id)
            from workspaces w
            where w.id = j.workspace_id
            limit 1
        ) x(id), lateral (select * from blobs where id = x.id limit 1) b
        where j.stage in ('plan', 'apply') and b.object_key is null and b.size <= :small_content
        union all
        select j.id as job_id, 'plan' as name, b.id as blob_id, b.object_key, b.bytes_sealed as sealed,
            b.size
        from mine j, lateral (
            select o.blob_id
            from operation_blobs o
            where o.operation_id = 'plan' || substr(j.run_id, 4) and o.kind = 'plan'
            limit 1
        ) x(id), lateral (select * from blobs where id = x.id limit 1) b
        where j.stage in ('apply') and b.object_key is null and b.size <= :small_content
        union all
        select j.id as job_id, 'init' as name, b.id as blob_id, b.object_key, b.bytes_sealed as sealed,
            b.size
        from mine j, lateral (
            select o.blob_id
            from operation_blobs o
            where o.operation_id = 'plan' || substr(j.run_id, 4) and o.kind = 'init'
            limit 1
        ) x(id), lateral (select * from blobs where id = x.id limit 1) b
        where j.stage in ('apply') and b.object_key is null and b.size <= :small_content
        union all
        select j.id as job_id, 'plan-json' as name, b.id as blob_id, b.object_key,
            b.bytes_sealed as sealed, b.size
        from mine j, lateral (
            select o.blob_id
            from operation_blobs o
            where o.operation_id = 'plan' || substr(j.run_id, 4) and o.kind = 'json'
            limit 1
        ) x(id), lateral (select * from blobs where id = x.id limit 1) b
        where j.stage in ('opa', 'cost', 'sentinel') and b.object_key is null and b.size <= :small_content
    ) small
) bounded
where total <= :small_contents::bigint;
