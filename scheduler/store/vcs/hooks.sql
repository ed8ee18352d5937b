-- SPDX-License-Identifier: MPL-2.0

-- shape: vcs_hook
-- id text, hook text, provider text, api_url text null, hook_secret_sealed bytea null,
-- hook_previous_sealed bytea null

-- statement: vcs_hooks_read
-- The repositories with these hooks, and their secrets. The previous one is null if it has expired.
-- index: vcs_repositories_hook_key
-- takes: ids text[]
-- gives: vcs_hook
select r.id, r.hook, :vcs_dialect_columns(), r.hook_secret_sealed, case
    when r.hook_previous_until > now() then r.hook_previous_sealed end as hook_previous_sealed
from vcs_repositories r
left join vcs_connections c on c.id = r.connection_id
where r.hook = any(:ids::uuid[]);

-- statement: vcs_deliveries_insert
-- Stores deliveries, except those that exist. The order prevents deadlocks of transactions that store the same
-- deliveries.
-- takes: repositories text[], ids text[], events text[], bodies bytea[]
insert into vcs_deliveries (repository_id, delivery_id, event, body_sealed)
select *
from unnest(:repositories::text[], :ids::text[], :events::text[], :bodies::bytea[])
order by 1, 2
on conflict (repository_id, delivery_id) do nothing;
