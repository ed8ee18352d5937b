-- SPDX-License-Identifier: MPL-2.0

-- statement: schema_read
select 1 where to_regclass('schema_migrations') is not null;

-- statement: schema_read_read_2
-- gives: name text, oldest text
select name, coalesce(to_jsonb(m) ->> 'oldest', '0') as oldest
from schema_migrations m
order by name;

-- statement: migration_note_insert
-- takes: name text, contract_of integer
insert into schema_migrations (name, oldest) values (:name, :contract_of);

-- statement: migration_note_insert_2
-- takes: name text
insert into schema_migrations (name) values (:name);

-- statement: migration_lock
-- gives: taken boolean
select pg_try_advisory_lock(7240281561) as taken;
