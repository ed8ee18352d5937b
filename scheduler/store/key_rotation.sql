-- SPDX-License-Identifier: MPL-2.0

-- statement: object_list
-- Lists a new object for removal until the blob names it (store/content/blob_offload.h).
-- takes: key text, size bigint
with listed as (
    insert into object_removals (key, size, due_at) values (:key, :size, now() + interval '1 hour')
)
update object_usage
set objects = objects + 1, bytes = bytes + :size;

-- statement: object_swap_commit
-- Names the new object in the blob, and lists the old one for removal. Readers that have just looked up its key
-- may fetch it for another minute.
-- takes: blob_id text, old text, key text, key_number bigint, size bigint
with moved as (
    update blobs
    set object_key = :key, object_key_number = :key_number
    where id = :blob_id and object_key = :old
        and exists (select 1 from object_removals where key = :key and due_at > now())
    returning id
),
kept as (delete from object_removals where key = :key and exists (select 1 from moved))
insert into object_removals (key, size, due_at)
select :old, :size, now() + interval '1 minute'
from moved
on conflict (key) do nothing;

-- statement: object_of_blob
-- A row if the blob still names the object.
-- takes: blob_id text, old text
select 1 from blobs where id = :blob_id and object_key = :old;

-- statement: object_number_set
-- Records the key of an object that was sealed with it already.
-- takes: blob_id text, old text, key_number bigint
update blobs set object_key_number = :key_number where id = :blob_id and object_key = :old;

-- statement: objects_old
-- The next blobs behind :after whose object has another key, or an unknown one, and a key for a new object.
-- takes: after text, key_number bigint, max bigint
-- gives: id text, object_key text null, size bigint, key text
select id, object_key, size, right(n, 2) || '/' || n as key
from blobs, lateral (select replace(gen_random_uuid()::text || left(id, 0), '-', '') as n) x
where id > :after and object_key is not null and object_key_number is distinct from :key_number
order by id
limit :max;

-- statement: sealing_keys_list
-- links_until: until when links may be valid that the key has signed: they are signed for up to three days
-- (auth/signed.c).
-- gives: number bigint, used boolean, links_until timestamptz null
select number, :key_in_use() as used, case
    when last_used_at + interval '3 days' > now() then last_used_at + interval '3 days' end as links_until
from sealing_keys
order by number;

-- statement: objects_count
-- The objects of each key; null: not recorded, so it may be any.
-- gives: number bigint null, count bigint
select object_key_number as number, count(*) as count
from blobs
where object_key is not null
group by 1;

-- statement: task_tokens_open
-- The tokens of run tasks that may still report.
-- gives: id text, token_hash text null
select id, token_hash
from task_results
where token_hash is not null and delivery in ('waiting', 'claimed', 'acknowledged');

-- statement: sealing_key_retire
-- The key seals nothing any more.
-- takes: number bigint
update sealing_keys set unused_at = now() where number = :number;
