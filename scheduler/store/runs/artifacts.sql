-- SPDX-License-Identifier: MPL-2.0

-- statement: artifacts_of_run
-- The JSON and the schemas of a plan.
-- index: operation_blobs_pkey, operations_pkey
-- takes: plan_id text
-- gives: json_blob text null, schemas_blob text null, plan_deleted boolean
select (select blob_id from operation_blobs where operation_id = o.id and kind = 'json') as json_blob,
    (select blob_id from operation_blobs where operation_id = o.id and kind = 'schemas') as schemas_blob,
    o.plan_deleted_at is not null as plan_deleted
from operations o
where o.id = :plan_id;

-- shape: artifact
-- blob_id text null, object_key text null, size bigint null, sealed bytea null, state_id text null optional,
-- base_id text null optional, difference_sealed bytea null optional

-- fragment: claimed_job()
-- The job j, if the token's digest belongs to its current attempt.
where j.id = :job_id and j.token_hash = :hash and j.state = 'claimed';

-- fragment: plan_artifact(kind)
-- A blob of the run's plan.
:blob_select()
from jobs j
left join operation_blobs o on o.operation_id = 'plan' || substr(j.run_id, 4) and o.kind = :kind
left join blobs b on b.id = o.blob_id :claimed_job();

-- statement: artifact_configuration
-- The files of the run's configuration.
-- takes: job_id text, hash text, most bigint
-- gives: artifact
:blob_select()
from jobs j
join run_inputs i on i.run_id = j.run_id
join configuration_versions c on c.id = i.configuration_version_id
left join blobs b on b.id = c.blob_id :claimed_job();

-- statement: artifact_state
-- The workspace's current state.
-- index: state_bases_blob
-- takes: like artifact_configuration
-- gives: artifact
:state_content_select()
from jobs j
join workspaces w on w.id = j.workspace_id
left join state_versions s on s.id = w.current_state_id :state_content_join() :claimed_job();

-- statement: artifact_plan
-- The plan that an apply executes.
-- index: blobs_pkey, jobs_pkey, operation_blobs_pkey
-- takes: like artifact_configuration
-- gives: artifact
:plan_artifact('plan');

-- statement: artifact_plan_json
-- The plan as JSON.
-- index: blobs_pkey, jobs_pkey, operation_blobs_pkey
-- takes: like artifact_configuration
-- gives: artifact
:plan_artifact('json');

-- statement: artifact_schemas
-- The schemas of the plan's providers.
-- index: blobs_pkey, jobs_pkey, operation_blobs_pkey
-- takes: like artifact_configuration
-- gives: artifact
:plan_artifact('schemas');

-- statement: artifact_init
-- What init installed for the plan.
-- index: blobs_pkey, jobs_pkey, operation_blobs_pkey
-- takes: like artifact_configuration
-- gives: artifact
:plan_artifact('init');

-- fragment: small_content(name, stages, blob)
-- A content of the jobs of these stages, if it is small and in PostgreSQL. `blob`: a query of its id.
select j.id as job_id, :name as name, b.id as blob_id, b.object_key, b.bytes_sealed as sealed, b.size
from mine j, lateral (:blob limit 1) x(id), lateral (select * from blobs where id = x.id limit 1) b
where j.stage in (:stages) and b.object_key is null and b.size <= :small;

-- fragment: plan_blob(kind)
select o.blob_id
from operation_blobs o
where o.operation_id = 'plan' || substr(j.run_id, 4) and o.kind = :kind;

-- statement: artifacts_small
-- The small contents that the jobs will request, the smallest first, until their total size is reached.
-- takes: job_ids text[], small bigint, total bigint
-- gives: job_id text, name text, blob_id text, object_key text null, sealed bytea
with mine as materialized (
    select id, run_id, workspace_id, stage from jobs where id = any(:job_ids::text[])
)
select job_id, name, blob_id, object_key, sealed
from (
    select *, sum(size) over (order by size, job_id, name) as total
    from (
        :small_content('configuration', {'plan', 'apply'}, {
            select (select blob_id from configuration_versions where id = i.configuration_version_id)
            from run_inputs i
            where i.run_id = j.run_id
        })
        union all :small_content('state', {'plan', 'apply'}, {
            select (select blob_id from state_versions where id = w.current_state_id)
            from workspaces w
            where w.id = j.workspace_id
        })
        union all :small_content('plan', 'apply', :plan_blob('plan'))
        union all :small_content('init', 'apply', :plan_blob('init'))
        union all :small_content('plan-json', {'opa', 'cost', 'sentinel'}, :plan_blob('json'))
    ) small
) bounded
where total <= :total::bigint;
