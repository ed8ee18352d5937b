-- SPDX-License-Identifier: MPL-2.0

-- statement: uploads_started
-- Marks the jobs whose attempts have started terraform, unless they are to stop; returns them. Locks them in the order
-- of their ids.
-- index: jobs_pkey
-- takes: jobs text[], hashes text[]
-- gives: id text
update jobs j
set started = true
from (
    select j.id
    from unnest(:jobs::text[], :hashes::text[]) u(job, hash)
    join jobs j on j.id = u.job and j.token_hash = u.hash
    where j.state = 'claimed' and j.stop = 0
    order by j.id
    for no key update of j
) s
where j.id = s.id
returning j.id;

-- statement: uploads_lock
-- One row for each upload whose attempt is the job's current one, or whose plan takes it after its end; `n` is the
-- upload's index. Locks the operations, and sorts them by id. `logs` and `jsons` say what an upload is; `blobs`: the
-- blob that it names. Only schemas that some plan has can be named: an agent must not learn which other contents exist.
-- takes: jobs text[], hashes text[], logs boolean[], blobs text[], plans text[], jsons boolean[]
-- gives: n bigint, log_base bigint, id text, log_length bigint, blob_id text null, has_json boolean
select u.n - 1 as n, j.log_base, o.id, o.log_length, b.id as blob_id,
    (select k.blob_id from operation_blobs k where k.operation_id = o.id and k.kind = 'json') is not null as has_json
from unnest(:jobs::text[], :hashes::text[], :logs::boolean[], :blobs::text[], :plans::text[], :jsons::boolean[])
    with ordinality as u(job, hash, log, blob, plan, json, n)
left join jobs j on j.id = u.job and j.token_hash = u.hash and j.state = 'claimed'
join operations o on o.id = case
    when j.id is null then u.plan
    when u.log and j.stage = 'apply' then 'apply' || substr(j.run_id, 4)
    else 'plan' || substr(j.run_id, 4)
end
left join blobs b
    on b.id = u.blob and exists (select 1 from operation_blobs k where k.blob_id = b.id and k.kind = 'schemas')
where j.id is not null
    or (
        o.upload_hash = u.hash and o.status = 'finished'
        and (
            select k.blob_id
            from operation_blobs k
            where k.operation_id = o.id and k.kind = case when u.json then 'json' else 'schemas' end
        ) is null
    )
order by o.id, u.n
for no key update of o;

-- statement: uploads_update
-- The new lengths of logs. A generated configuration stays one.
-- index: operations_pkey
-- takes: ids text[], lengths bigint[], generated boolean[]
update operations o
set log_length = u.log_length, generated_configuration = o.generated_configuration or u.generated
from unnest(:ids::text[], :lengths::bigint[], :generated::boolean[]) as u(id, log_length, generated)
where o.id = u.id;

-- statement: uploads_name
-- Adds or replaces blobs of plans.
-- takes: ids text[], kinds text[], blobs text[]
insert into operation_blobs (operation_id, kind, blob_id)
select *
from unnest(:ids::text[], :kinds::text[], :blobs::text[])
on conflict (operation_id, kind) do update set blob_id = excluded.blob_id;
