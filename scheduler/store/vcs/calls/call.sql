-- SPDX-License-Identifier: MPL-2.0

-- fragment: calls_insert(columns, selection)
-- Inserts calls of one purpose, except those that exist. `selection` begins with the values of `columns`. The
-- statement takes the traits of the purpose: purpose, urgency, writes.
insert into vcs_calls (id, operation, purpose, urgency, writes, :columns)
select 'vcscall-' || substr(md5(gen_random_uuid()::text), 1, 16), '', :purpose, :urgency, :writes,
    :selection
on conflict (coalesce(repository_id, connection_id), purpose, subject) do nothing;
