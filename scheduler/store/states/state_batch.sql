-- SPDX-License-Identifier: MPL-2.0

-- statement: outputs_insert
-- takes: p1 text[], p2 text[], p3 text[], p4 boolean[], p5 text[], p6 text[], output_values bytea[]
insert into state_version_outputs
    (id, state_version_id, name, sensitive, type, detailed_type, value_sealed)
select u.id, u.state, u.name, u.sensitive, u.type, u.detailed::jsonb, u.value
from unnest(:p1::text[], :p2::text[], :p3::text[], :p4::boolean[], :p5::text[], :p6::text[],
        :output_values::bytea[]) as u(id, state, name, sensitive, type, detailed, value);

-- statement: state_batch_rows_insert
-- takes: p1 text[], p2 bigint[], p3 text[], p4 text[], p5 bigint[], p6 text[], p7 boolean[], p8 boolean[],
-- p9 text[], p10 text[], p11 text[], p12 text[], p13 text[], p14 text[], p15 text[], p16 text[], p17 text[]
insert into state_versions as s(
    id, serial, lineage, md5, size, status, intermediate, recovered, terraform_version, resources,
        blob_id, rollback_id, workspace_id, run_id, job_id, created_by, created_at)
select u.id, serial, lineage, md5, size, status, intermediate, recovered, version, resources::jsonb, blob,
    rollback, workspace, run, job, creator, coalesce(at::timestamptz, now())
from unnest(
    :p1::text[], :p2::bigint[], :p3::text[], :p4::text[], :p5::bigint[], :p6::text[], :p7::boolean[],
        :p8::boolean[], :p9::text[], :p10::text[], :p11::text[], :p12::text[], :p13::text[], :p14::text[],
        :p15::text[], :p16::text[], :p17::text[]) as u(
            id, serial, lineage, md5, size, status, intermediate, recovered, version, resources, blob,
                rollback, workspace, run, job, creator, at)
on conflict (id) do update set serial = excluded.serial, lineage = excluded.lineage, md5 = excluded.md5,
    size = excluded.size, status = excluded.status, intermediate = excluded.intermediate,
    recovered = excluded.recovered, terraform_version = excluded.terraform_version,
    resources = excluded.resources, blob_id = excluded.blob_id, rollback_id = excluded.rollback_id,
    created_at = excluded.created_at;

-- statement: current_set
-- takes: p1 text[], p2 text[], p3 bigint[]
update workspaces w
set current_state_id = u.state, resource_count = u.resources, latest_change_at = now()
from unnest(:p1::text[], :p2::text[], :p3::bigint[]) as u(id, state, resources)
where w.id = u.id;

-- statement: states_insert
-- takes: filled text[]
delete from state_version_outputs where state_version_id = any(:filled::text[]);
