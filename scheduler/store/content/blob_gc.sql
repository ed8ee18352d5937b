-- SPDX-License-Identifier: MPL-2.0

-- statement: blob_gc_sweep
-- Deletes blobs that nothing refers to, among the :max that are due the longest (loose_blobs_look), and returns
-- how many it looked at. Keeps two kinds of blobs and checks them again after 10 minutes. The first are named
-- in the bundle of a policy evaluation that has no result yet (policy_evaluations_open). The second are locked
-- by an upload that is about to refer to them.
-- index: configuration_versions_blob, git_jobs_blob, loose_blobs_look, operation_blobs_blob,
-- operations_log_blob, policies_blob, registry_module_inspections_blob, registry_module_versions_blob,
-- registry_provider_platforms_blob, registry_provider_versions_blob
-- takes: max bigint
-- gives: looked bigint
with looked as (
    select blob_id, of_policy
    from loose_blobs
    where look_at <= now()
    order by look_at
    limit :max
    for update skip locked
),
loose as (
    select l.blob_id, l.of_policy
        and exists (
            select 1
            from policy_evaluations e
            join runs r on r.id = e.run_id
            where e.result is null and not r.ended and position(l.blob_id in e.bundle::text) > 0
        ) as awaited
    from looked l
    where coalesce((select true from configuration_versions where blob_id = l.blob_id limit 1),
            (select true from state_versions where blob_id = l.blob_id limit 1),
            (select true from state_versions where json_blob_id = l.blob_id limit 1),
            (select true from operation_blobs where blob_id = l.blob_id limit 1),
            (select true from operations where log_blob = l.blob_id limit 1),
            (select true from vcs_contents where blob_id = l.blob_id limit 1),
            (select true from git_jobs where blob_id = l.blob_id limit 1),
            (select true from policies where blob_id = l.blob_id limit 1),
            (select true from registry_module_versions where blob_id = l.blob_id limit 1),
            (select true from registry_module_inspections where blob_id = l.blob_id limit 1),
            (select true from registry_provider_versions where blob_id = l.blob_id limit 1),
            (select true from registry_provider_platforms where blob_id = l.blob_id limit 1),
            (select true from policy_set_versions where blob_id = l.blob_id limit 1)) is null
),
free as (
    select id
    from blobs
    where id = any(array(select blob_id from loose where not awaited))
    for update skip locked
),
gone as (delete from blobs where id = any(array(select id from free))),
again as (
    select l.blob_id
    from loose l
    where l.awaited or exists (select 1 from blobs b where b.id = l.blob_id)
        and l.blob_id <> all (array(select id from free))
),
later as (
    update loose_blobs
    set look_at = now() + interval '10 minutes'
    where blob_id = any(array(select blob_id from again))
),
done as (
    delete from loose_blobs
    where blob_id = any(array(select blob_id from looked except select blob_id from again))
)
select count(*) as looked
from looked;
