-- SPDX-License-Identifier: MPL-2.0

-- statement: dead_letters_select
-- takes: id bigint, shown bigint, excerpt integer
-- gives: id bigint, topic text, partition integer, offset bigint, reader text, error text, size integer,
-- kept integer, created_at timestamptz, replayed_at timestamptz null, payload text
select id, topic, partition, "offset", reader, error, size, length(payload) as kept, created_at,
    replayed_at, case when :id::bigint = 0 then left(encode(payload, 'escape'), :excerpt)
    else encode(payload, 'escape') end as payload
from (
    select *
    from dead_letters
    where :id::bigint in (0, id) and not discarded
    order by id desc
    limit :shown
) newest
order by id;

-- statement: dead_letters_replay_one
-- takes: id bigint
-- gives: size integer, kept integer
with asked as (
    select id, size, length(payload) as kept from dead_letters where id = :id and not discarded
),
letter as (
    update dead_letters d
    set replayed_at = now()
    from asked a
    where d.id = a.id and a.kept = a.size
    returning d.topic, d.payload
),
put as (
    insert into outbox (topic, payload) select topic, convert_from(payload, 'UTF8') from letter
)
select size, kept
from asked;

-- statement: dead_letters_replay
-- gives: id bigint
select id from dead_letters where replayed_at is null and not discarded order by id;

-- statement: dead_letters_discard
-- takes: id bigint
update dead_letters
set discarded = true, payload = ''
where :id::bigint in (0, id) and not discarded;
