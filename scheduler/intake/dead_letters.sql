-- SPDX-License-Identifier: MPL-2.0

-- statement: dead_letter_insert
-- Stores a letter once, and announces it if there is a message. No row: it is stored already.
-- takes: topic text, partition integer, offset bigint, payload bytea, error text, reader text, size integer,
-- digest text, announce_topic text, announcement text
-- gives: id bigint
with kept as (
    insert into dead_letters (topic, partition, "offset", payload, error, reader, size, digest)
    values (:topic, :partition, :offset, :payload, :error, :reader, :size, :digest)
    on conflict (digest) do nothing
    returning id
),
announced as (
    insert into outbox (topic, payload)
    select :announce_topic, :announcement
    from kept
    where :announcement::text is not null
)
select id
from kept;

-- statement: dead_letters_sweep
-- Deletes letters that are too old, and the oldest ones if there are too many, or if they are too large.
-- index: dead_letters_pkey
-- reads: dead_letters
-- takes: kept_days integer, max_kept bigint, max_kept_bytes bigint
delete from dead_letters
where created_at < now() - make_interval(days => :kept_days)
    or id <= (
        select max(id)
        from (
            select id, row_number() over newest as number, sum(octet_length(payload)) over newest as bytes
            from dead_letters window newest as (order by id desc)
        ) n
        where number > :max_kept or bytes > :max_kept_bytes
    );
