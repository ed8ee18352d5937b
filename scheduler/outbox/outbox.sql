-- SPDX-License-Identifier: MPL-2.0

-- statement: outbox_insert
-- takes: rows jsonb
insert into outbox (id, topic, key, payload)
select id, topic, key, payload
from jsonb_to_recordset(:rows::jsonb) as u(id bigint, topic text, key text, payload text);
