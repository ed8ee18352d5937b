-- SPDX-License-Identifier: MPL-2.0

-- statement: state_outputs_insert
-- takes: ids text[], state_ids text[], names text[], sensitive boolean[], types text[], detailed_types text[],
-- values bytea[]
insert into state_version_outputs
    (id, state_version_id, name, sensitive, type, detailed_type, value_sealed)
select u.id, u.state, u.name, u.sensitive, u.type, u.detailed::jsonb, u.value
from unnest(:ids::text[], :state_ids::text[], :names::text[], :sensitive::boolean[], :types::text[],
        :detailed_types::text[], :values::bytea[]) as u(id, state, name, sensitive, type, detailed, value);

-- statement: state_versions_insert
-- Inserts state versions. An upload replaces the announced row, which the primary key finds. Without a time,
-- the state is made now.
-- takes: ids text[], serials bigint[], lineages text[], md5s text[], sizes bigint[], statuses text[],
-- intermediate boolean[], recovered boolean[], terraform_versions text[], resources text[], blob_ids text[],
-- rollback_ids text[], workspace_ids text[], run_ids text[], job_ids text[], creators text[], times text[]
insert into state_versions as s(
    id, serial, lineage, md5, size, status, intermediate, recovered, terraform_version, resources,
        blob_id, rollback_id, workspace_id, run_id, job_id, created_by, created_at)
select u.id, serial, lineage, md5, size, status, intermediate, recovered, version, resources::jsonb, blob,
    rollback, workspace, run, job, creator, coalesce(at::timestamptz, now())
from unnest(
    :ids::text[], :serials::bigint[], :lineages::text[], :md5s::text[], :sizes::bigint[], :statuses::text[],
        :intermediate::boolean[], :recovered::boolean[], :terraform_versions::text[], :resources::text[],
        :blob_ids::text[], :rollback_ids::text[], :workspace_ids::text[], :run_ids::text[], :job_ids::text[],
        :creators::text[], :times::text[]) as u(
            id, serial, lineage, md5, size, status, intermediate, recovered, version, resources, blob,
                rollback, workspace, run, job, creator, at)
on conflict (id) do update set serial = excluded.serial, lineage = excluded.lineage, md5 = excluded.md5,
    size = excluded.size, status = excluded.status, intermediate = excluded.intermediate,
    recovered = excluded.recovered, terraform_version = excluded.terraform_version,
    resources = excluded.resources, blob_id = excluded.blob_id, rollback_id = excluded.rollback_id,
    created_at = excluded.created_at;

-- statement: workspace_states_set
-- Makes the states the current ones of their workspaces. What an assessment found before is no longer true.
-- index: workspaces_pkey
-- takes: workspace_ids text[], state_ids text[], resource_counts bigint[]
update workspaces w
set current_state_id = u.state, resource_count = u.resources, latest_change_at = now(),
    assessment_id = null, drifted = false
from unnest(:workspace_ids::text[], :state_ids::text[], :resource_counts::bigint[]) as u(id, state, resources)
where w.id = u.id;

-- statement: state_outputs_delete
-- Deletes the outputs of states whose row gets another content.
-- index: state_version_outputs_state
-- takes: state_ids text[]
delete from state_version_outputs where state_version_id = any(:state_ids::text[]);
