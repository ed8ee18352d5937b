-- SPDX-License-Identifier: MPL-2.0

-- fragment: calls_insert(columns, selection)
-- Inserts calls of one purpose, except those that exist. Its traits are the parameters $1 to $3: CALL_TRAITS.
-- The selection begins with the values of `columns`.
insert into vcs_calls (id, operation, purpose, urgency, writes, :columns)
select 'vcscall-' || substr(md5(gen_random_uuid()::text), 1, 16), '', :purpose, :urgency, :writes,
    :selection
on conflict (coalesce(repository_id, connection_id), purpose, subject) do nothing;
