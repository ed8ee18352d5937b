-- SPDX-License-Identifier: MPL-2.0

-- statement: schema_table
-- A row if there is a table of migrations.
select 1 where to_regclass('schema_migrations') is not null;

-- statement: schema_migrations
-- The migrations that were applied, by name. A table without the column `oldest` is of a version before it.
-- index: schema_migrations_pkey
-- gives: name text, oldest text
select name, coalesce(to_jsonb(m) ->> 'oldest', '0') as oldest
from schema_migrations m
order by name;

-- statement: migration_note_contract
-- Records a migration after which only programs from version `oldest` on can serve.
-- takes: name text, oldest integer
insert into schema_migrations (name, oldest) values (:name, :oldest);

-- statement: migration_note
-- Records another migration. The column `oldest` may not exist yet: a migration adds it.
-- takes: name text
insert into schema_migrations (name) values (:name);

-- statement: migration_lock
-- Takes the lock for the time of the connection, if no other process has it.
-- gives: taken boolean
select pg_try_advisory_lock(7240281561) as taken;
