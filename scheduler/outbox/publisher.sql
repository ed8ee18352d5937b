-- SPDX-License-Identifier: MPL-2.0

-- statement: outbox_delete
-- Deletes messages that the broker has.
-- index: outbox_pkey
-- takes: ids bigint[]
delete from outbox where id = any(:ids::bigint[]);

-- statement: outbox_left_behind
-- Messages that are older than :older_s seconds and not among the known ones, the oldest first.
-- index: outbox_pkey
-- takes: known bigint[], older_s double precision, batch bigint
-- gives: id bigint, topic text, key text null, payload text
select id, topic, key, payload
from outbox
where created_at < now() - make_interval(secs => :older_s) and not (id = any(:known::bigint[]))
order by id
limit :batch;
