-- SPDX-License-Identifier: MPL-2.0

-- statement: object_list
-- takes: key text, size bigint
with listed as (
    insert into object_removals (key, size, due_at) values (:key, :size, now() + interval '1 hour')
)
update object_usage
set objects = objects + 1, bytes = bytes + :size;

-- statement: object_swap_commit
-- takes: blob_id text, old text, key text, keyring_number bigint, size bigint
with moved as (
    update blobs
    set object_key = :key, object_key_number = :keyring_number
    where id = :blob_id and object_key = :old
        and exists (select 1 from object_removals where key = :key and due_at > now())
    returning id
),
kept as (delete from object_removals where key = :key and exists (select 1 from moved))
insert into object_removals (key, size, due_at)
select :old, :size, now() + interval '1 minute'
from moved
on conflict (key) do nothing;

-- statement: object_check_gone
-- takes: blob_id text, old text
select 1 from blobs where id = :blob_id and object_key = :old;

-- statement: object_rotate
-- takes: blob_id text, old text, keyring_number bigint
update blobs set object_key_number = :keyring_number where id = :blob_id and object_key = :old;

-- statement: objects_rotate
-- takes: after text, keyring_number bigint, batch_rows bigint
-- gives: id text, object_key text null, size bigint, key text
select id, object_key, size, right(n, 2) || '/' || n as key
from blobs, lateral (select replace(gen_random_uuid()::text || left(id, 0), '-', '') as n) x
where id > :after and object_key is not null and object_key_number is distinct from :keyring_number
order by id
limit :batch_rows;

-- statement: keys_list
-- gives: number bigint, used boolean, links_until timestamptz null
select number, :key_in_use() as used, case
    when last_used_at + interval '3 days' > now() then last_used_at + interval '3 days' end as links_until
from sealing_keys
order by number;

-- statement: objects_count
-- gives: number bigint null, count bigint
select object_key_number as number, count(*) as count
from blobs
where object_key is not null
group by 1;

-- statement: tokens_count
-- gives: id text, token_hash text null
select id, token_hash
from task_results
where token_hash is not null and delivery in ('waiting', 'claimed', 'acknowledged');

-- statement: keys_retire
-- takes: number bigint
update sealing_keys set unused_at = now() where number = :number;
