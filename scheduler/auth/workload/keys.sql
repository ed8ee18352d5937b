-- SPDX-License-Identifier: MPL-2.0

-- fragment: superseded_at(key)
-- When the next key began to sign; null if it has not.
(select min(n.signs_from) from workload_keys n where n.signs_from > :key.signs_from and n.signs_from <= now());

-- statement: workload_keys_published
-- The public halves of the keys that are published.
-- reads: workload_keys
-- gives: public_key jsonb
select k.public_key
from workload_keys k
where coalesce(:superseded_at(k) > now() - interval '7 days', true)
order by k.signs_from;

-- statement: workload_key_signing
-- The key that signs now. While PostgreSQL's clock is back at a time before all keys, it is the first of them.
-- reads: workload_keys
-- gives: id text, private_sealed bytea
select id, private_sealed
from workload_keys
order by signs_from > now(), abs(extract(epoch from signs_from - now()))
limit 1;

-- statement: workload_keys_lock
-- Serializes the making of keys until the transaction ends.
select pg_advisory_xact_lock(hashtextextended('workload-keys', 0));

-- statement: workload_keys_due
-- In how many seconds a new key must sign: 0 for the first, a day if the last one is nearly as old as `days`. No row
-- if it is not time.
-- reads: workload_keys
-- takes: days integer
-- gives: delay bigint
select case when l.signs_from is null then 0 else 86400 end::bigint as delay
from (select max(signs_from) as signs_from from workload_keys) l
where l.signs_from is null or l.signs_from < now() + interval '1 day' - make_interval(days => :days);

-- statement: workload_key_next
-- A row if there is a key that does not sign yet.
-- reads: workload_keys
select 1 from workload_keys where signs_from > now();

-- statement: workload_keys_list
-- All keys, the newest first.
-- reads: workload_keys
-- gives: id text, signs_from timestamptz, state text
select k.id, k.signs_from,
    case
        when k.signs_from > now() then 'next'
        when :superseded_at(k) is null then 'signs'
        else 'published'
    end as state
from workload_keys k
order by k.signs_from desc;

-- statement: workload_key_insert
-- Stores a key that signs after `delay` seconds.
-- takes: id text, public_key jsonb, private_sealed bytea, delay bigint
insert into workload_keys (id, public_key, private_sealed, signs_from)
values (:id, :public_key::jsonb, :private_sealed, now() + make_interval(secs => :delay::bigint));

-- statement: workload_keys_expire
-- Deletes the keys that are not published any more.
-- reads: workload_keys
delete from workload_keys k where :superseded_at(k) < now() - interval '8 days';

-- statement: workload_keys_withdraw
-- Deletes all keys.
-- reads: workload_keys
delete from workload_keys;
