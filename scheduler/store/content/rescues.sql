-- SPDX-License-Identifier: MPL-2.0

-- statement: rescues_insert
-- Inserts the objects of applies that are claimed. :grants: objects with job, object and sealed. The jobs are
-- read by their primary key: their ids are an array (db/db.h).
-- index: jobs_pkey
-- takes: grants jsonb, keep_seconds double precision
insert into rescues (object_key, job_id, attempt, key_sealed, delete_at)
select u.object, j.id, j.attempt, decode(u.sealed, 'base64'), now() + make_interval(secs => :keep_seconds)
from jsonb_to_recordset(:grants::jsonb) as u(job text, object text, sealed text)
join jobs j on j.id = u.job
    and j.id = any(array(select d.job from jsonb_to_recordset(:grants::jsonb) as d(job text)))
where j.stage = 'apply';

-- statement: rescues_due
-- Objects of held workspaces that are due. Each is looked for again after 5 s, then after a tenth of the hold's
-- age, up to a minute.
-- index: rescues_job
-- takes: max bigint
-- gives: object_key text, job_id text, attempt integer, key_sealed bytea, seen text null, run_id text,
-- workspace_id text, token_hash text
with due as (
    select r.object_key, h.run_id, h.workspace_id, h.token_hash, h.began_at
    from workspace_holds h
    join workspaces w on w.id = h.workspace_id and w.hold_job_id = h.job_id
    join rescues r on r.job_id = h.job_id and r.attempt = h.attempt
    where h.until is not null and h.settled_at is null and r.look_at <= now()
    order by r.look_at
    limit :max
    for update of r skip locked
)
update rescues r
set look_at = now() + greatest(interval '5 seconds', least(interval '1 minute', (now() - d.began_at) / 10))
from due d
where r.object_key = d.object_key
returning r.object_key, r.job_id, r.attempt, r.key_sealed, r.seen, d.run_id, d.workspace_id, d.token_hash;

-- statement: rescue_saw
-- Records the first bytes of the object that was read, in hex.
-- index: rescues_pkey
-- takes: object_key text, seen text
update rescues set seen = :seen where object_key = :object_key;

-- statement: rescues_ended_note
-- Objects of ended attempts are deleted in 15 minutes. Rows of running applies are few, and those of ended ones
-- stay for minutes only, unless their hold did not end with the last state.
-- index: rescues_delete
update rescues r
set delete_at = now() + interval '15 minutes'
where delete_at > now() + interval '15 minutes'
    and not exists (
        select 1 from jobs j where j.id = r.job_id and j.attempt = r.attempt and j.state = 'claimed'
    ) and not exists (select 1 from workspace_holds h where h.job_id = r.job_id);

-- statement: rescues_take
-- Claims a batch for 5 minutes, after which those of a crashed process are due again.
-- index: rescues_delete
-- takes: max bigint
-- gives: object_key text
update rescues
set delete_at = now() + interval '5 minutes'
where object_key in (
    select object_key
    from rescues
    where delete_at <= now()
    order by delete_at
    limit :max
    for update skip locked
)
returning object_key;

-- statement: rescues_delete
-- Deletes the rows of deleted objects.
-- index: rescues_pkey
-- takes: done text[]
delete from rescues where object_key = any(:done::text[]);
