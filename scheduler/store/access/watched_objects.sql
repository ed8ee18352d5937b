-- SPDX-License-Identifier: MPL-2.0

-- statement: watched_objects_find
-- The objects that exist, with their places in the arrays; not those of test beds of modules. Each join finds at most
-- one row by a unique index.
-- index: organizations_name
-- takes: kinds text[], names text[]
-- gives: n bigint, object_id text, organization_id text, workspace_id text
select t.n, coalesce(g.id, w.id, p.id, r.id) as object_id,
    coalesce(g.id, w.organization_id, r.organization_id) as organization_id,
    coalesce(w.id, r.workspace_id) as workspace_id
from unnest(:kinds::text[], :names::text[])
with ordinality as t(kind, name, n)
left join organizations g on t.kind = 'org' and lower(g.name) = lower(t.name)
left join workspaces w on t.kind = 'workspace' and w.id = t.name and w.module_id is null
left join operations p on t.kind = 'log' and p.id = t.name
left join runs r on r.id = case t.kind when 'run' then t.name when 'log' then p.run_id end and not r.test
where coalesce(g.id, w.id, r.id) is not null;
