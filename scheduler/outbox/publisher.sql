-- SPDX-License-Identifier: MPL-2.0

-- statement: rows_delete
-- takes: ids bigint[]
delete from outbox where id = any(:ids::bigint[]);

-- statement: rows_poll
-- takes: known bigint[], p2 double precision, batch bigint
-- gives: id bigint, topic text, key text null, payload text
select id, topic, key, payload
from outbox
where created_at < now() - make_interval(secs => :p2) and not (id = any(:known::bigint[]))
order by id
limit :batch;
