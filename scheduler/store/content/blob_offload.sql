-- SPDX-License-Identifier: MPL-2.0

-- statement: blob_moves_take
-- Makes keys of objects for blobs that may move, the largest first, and lists the keys for removal until the
-- move commits. The keys are random. The first two digits are a folder, since some stores keep the names of one
-- folder in one list.
-- index: blobs_here, object_removals_blob, state_bases_blob
-- reads: object_usage
-- takes: from_bytes bigint, after_seconds double precision, max bigint
-- gives: key text, blob_id text null, size bigint
with due as (
    select b.id, b.size, replace(gen_random_uuid()::text, '-', '') as name
    from blobs b
    where b.object_key is null and b.size >= :from_bytes
        and b.created_at <= now() - make_interval(secs => :after_seconds)
        and not exists (select 1 from object_removals r where r.blob_id = b.id)
        and not exists (select 1 from state_bases x where x.blob_id = b.id)
    order by b.size desc
    limit :max
),
taken as (
    insert into object_removals (key, blob_id, size, due_at)
    select right(name, 2) || '/' || name, id, size, now() + interval '1 hour'
    from due
    on conflict do nothing
    returning key, blob_id, size
),
counted as (
    update object_usage
    set objects = objects + n, bytes = bytes + total
    from (select count(*) as n, coalesce(sum(size), 0) as total from taken) t
    where n > 0
)
select key, blob_id, size
from taken
order by size;

-- statement: blob_move_commit
-- Replaces the row's bytes by the object's key. If the blob was deleted meanwhile, the object stays in
-- object_removals.
-- index: blobs_here, object_removals_due
-- takes: key text, blob_id text, key_number bigint
with written as (select key from object_removals where key = :key and due_at > now() for update),
moved as (
    update blobs
    set bytes_sealed = null, object_key = w.key, object_key_number = :key_number
    from written w
    where id = :blob_id and object_key is null
    returning id
)
delete from object_removals
where key = :key and exists (select 1 from moved);

-- statement: blob_move_give_up
-- Schedules the object for deletion, whether or not it was written. The blob is claimed again only after that.
-- index: object_removals_pkey
-- takes: key text
update object_removals set due_at = now() + interval '5 seconds' where key = :key;

-- statement: blob_move_read
-- The sealed bytes. No row: the blob was deleted, or is in an object already.
-- index: blobs_here
-- takes: blob_id text
-- gives: bytes_sealed bytea null
select bytes_sealed from blobs where id = :blob_id and object_key is null;

-- statement: object_removals_take
-- Claims a batch for 5 minutes, after which those of a crashed process are due again.
-- index: object_removals_due
-- takes: max bigint
-- gives: key text
update object_removals
set due_at = now() + interval '5 minutes'
where key in (
    select key
    from object_removals
    where due_at <= now()
    order by due_at
    limit :max
    for update skip locked
)
returning key;

-- statement: object_removals_commit
-- Deletes the rows of deleted objects, and counts them.
-- index: object_removals_pkey
-- reads: object_usage
-- takes: keys text[]
with gone as (delete from object_removals where key = any(:keys::text[]) returning size)
update object_usage
set objects = objects - n, bytes = bytes - total
from (select count(*) as n, coalesce(sum(size), 0) as total from gone) t
where n > 0;

-- statement: object_removals_return
-- Lets objects be deleted again in 5 seconds.
-- index: object_removals_pkey
-- takes: keys text[]
update object_removals set due_at = now() + interval '5 seconds' where key = any(:keys::text[]);
