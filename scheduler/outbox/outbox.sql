-- SPDX-License-Identifier: MPL-2.0

-- statement: outbox_insert
-- Inserts messages. :rows: objects with id, topic, key and payload.
-- takes: rows jsonb
insert into outbox (id, topic, key, payload)
select id, topic, key, payload
from jsonb_to_recordset(:rows::jsonb) as u(id bigint, topic text, key text, payload text);
