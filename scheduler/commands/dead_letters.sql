-- SPDX-License-Identifier: MPL-2.0

-- statement: dead_letters_read
-- The letter of that id, or the newest ones for 0, these with the beginning of their payload; the newest last.
-- index: dead_letters_pkey
-- takes: id bigint, max bigint, excerpt integer
-- gives: id bigint, topic text, partition integer, offset bigint, reader text, error text, size integer,
-- kept integer, created_at timestamptz, replayed_at timestamptz null, payload text
select id, topic, partition, "offset", reader, error, size, length(payload) as kept, created_at,
    replayed_at,
    case when :id::bigint = 0 then left(encode(payload, 'escape'), :excerpt) else encode(payload, 'escape') end
        as payload
from (
    select *
    from dead_letters
    where :id::bigint in (0, id) and not discarded
    order by id desc
    limit :max
) newest
order by id;

-- statement: dead_letter_replay
-- Puts the letter's payload into the outbox if all of it was kept. No row if there is no such letter.
-- index: dead_letters_pkey
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

-- statement: dead_letters_to_replay
-- The letters that were not replayed yet.
-- index: dead_letters_pkey
-- gives: id bigint
select id from dead_letters where replayed_at is null and not discarded order by id;

-- statement: dead_letters_discard
-- Discards the letter; all for 0.
-- reads: dead_letters
-- takes: id bigint
update dead_letters
set discarded = true, payload = ''
where :id::bigint in (0, id) and not discarded;
