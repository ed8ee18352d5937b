-- SPDX-License-Identifier: MPL-2.0

-- statement: processes_beat
-- takes: id text, host text, build_version text, protocol_version integer, schema_program_version integer
with gone as (delete from schedulers where seen_at < now() - interval '1 day')
insert into schedulers (id, name, version, protocol, schema)
values (:id, :host, :build_version, :protocol_version, :schema_program_version)
on conflict (id) do update set seen_at = now();

-- statement: processes_leave
-- takes: id text
delete from schedulers where id = :id;

-- statement: processes_list
-- takes: protocol_version integer, schema_program_version integer, build_version text
-- gives: kind text null, name text null, version text null, protocol integer null, schema integer,
-- seconds bigint, older boolean
select kind, name, version, protocol, coalesce(schema, 0) as schema,
    extract(epoch from now() - seen_at)::bigint as seconds, protocol < :protocol_version
    or coalesce(schema < :schema_program_version, false)
    or coalesce(
        string_to_array(substring(version from '^[0-9]+(?:\.[0-9]+)*'), '.')::numeric[] < string_to_array(
            :build_version, '.')::numeric[], false) as older
from processes
where seen_at > now() - interval '1 hour'
order by older desc, kind, name, seen_at desc;
