-- SPDX-License-Identifier: MPL-2.0

-- statement: processes_beat
-- Records that this scheduler runs, and deletes those that were not seen for a day.
-- reads: schedulers
-- takes: id text, host text, version text, protocol integer, schema integer
with gone as (delete from schedulers where seen_at < now() - interval '1 day')
insert into schedulers (id, name, version, protocol, schema)
values (:id, :host, :version, :protocol, :schema)
on conflict (id) do update set seen_at = now();

-- statement: processes_leave
-- Deletes this scheduler's row.
-- index: schedulers_pkey
-- takes: id text
delete from schedulers where id = :id;

-- statement: processes_list
-- The processes that were seen within the last hour, and whether they are older than this program; these first.
-- Versions are compared as numbers, from the left; a version that has none is not older.
-- reads: notifiers, schedulers, workers
-- takes: protocol integer, schema integer, version text
-- gives: kind text null, name text null, version text null, protocol integer null, schema integer,
-- seconds bigint, older boolean
select kind, name, version, protocol, coalesce(schema, 0) as schema,
    extract(epoch from now() - seen_at)::bigint as seconds,
    protocol < :protocol or coalesce(schema < :schema, false)
        or coalesce(string_to_array(substring(version from '^[0-9]+(?:\.[0-9]+)*'), '.')::numeric[] <
            string_to_array(:version, '.')::numeric[], false) as older
from processes
where seen_at > now() - interval '1 hour'
order by older desc, kind, name, seen_at desc;
