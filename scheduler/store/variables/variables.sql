-- SPDX-License-Identifier: MPL-2.0

-- fragment: variables_columns()
-- Columns of a variable `v`.
v.id, v.workspace_id, v.varset_id, v.key, v.value_sealed, v.description, v.category, v.hcl, v.sensitive,
    v.version_id, v.created_at;

-- fragment: variables_owned()
-- The condition that the owner has a variable `v`. Ids of workspaces and of variable sets are never equal.
(v.workspace_id = :owner_id or v.varset_id = :owner_id);

-- fragment: variables_ranked()
-- All variables that apply to a workspace, with their precedence `strength`, from lowest to highest:
--  - 0 to 2: sets of the organization that are global (0), for projects (1), for workspaces (2);
--  - 3 and 4: a project's own sets, for the project (3), for workspaces (4);
--  - 5: the workspace's own variables;
--  - 6: variables of a run;
--  - 7 to 11: priority sets, in the reverse order.
-- Ties are resolved by the sets' names: A before B. No set applies to a test bed of a module.
with w as (select id, organization_id, project_id from workspaces where id = :workspace_id and module_id is null),
scoped as (
    select s.*, 0 as scope
    from w
    join varsets s on s.organization_id = w.organization_id
    where s.global
    union all
    select s.*, case when s.project_id is null then 1 else 3 end
    from w
    join varset_projects m on m.project_id = w.project_id
    join varsets s on s.id = m.varset_id
    union all
    select s.*, case when s.project_id is null then 2 else 4 end
    from w
    join varset_workspaces m on m.workspace_id = w.id
    join varsets s on s.id = m.varset_id
    where s.project_id is null or s.project_id = w.project_id
),
candidates as (
    select v.*, '' as name, 5 as strength
    from variables v
    where v.workspace_id = :workspace_id
    union all
    select v.*, s.name, case when s.priority then 11 - s.scope else s.scope end
    from scoped s
    join variables v on v.varset_id = s.id
);

-- fragment: variables_strongest()
-- For each key, the variable that takes effect.
select distinct on (v.category, v.key) :variables_columns(), v.strength > 6 as beats_run
from candidates v
order by v.category, v.key, v.strength desc, v.name collate "C", v.id;

-- shape: variable
-- total bigint optional, id text, workspace_id text null, varset_id text null, key text, value_sealed bytea,
-- description text null, category text, hcl boolean, sensitive boolean, version_id text, created_at timestamptz,
-- beats_run boolean optional

-- statement: variables_list
-- The variables of a workspace or a variable set, by key.
-- index: variables_key, variables_varset_key
-- takes: owner_id text
-- gives: variable
select :variables_columns() from variables v where :variables_owned() order by v.key, v.category;

-- statement: variables_page
-- One page of them, with the total in each row; a row with a null id if the page is empty.
-- index: variables_key, variables_varset_key
-- takes: owner_id text, limit bigint, offset bigint
-- gives: variable
select t.total, f.*
from (select count(*) as total from variables v where :variables_owned()) t
left join (
    select :variables_columns()
    from variables v
    where :variables_owned()
    order by v.key, v.category
    limit :limit
    offset :offset
) f on true
order by f.key, f.category;

-- statement: variables_read_all
-- The variables with these ids.
-- index: variables_pkey
-- takes: ids text[]
-- gives: variable
select :variables_columns()
from variables v
where v.id = any(:ids::text[])
order by v.key, v.category, v.id;

-- statement: variable_read
-- The owner's variable of that id.
-- index: variables_pkey
-- takes: owner_id text, id text
-- gives: variable
select :variables_columns() from variables v where :variables_owned() and v.id = :id;

-- statement: variables_effective
-- The variables that take effect in the workspace.
-- index: variables_key, variables_varset_key, varset_projects_project, varset_workspaces_workspace,
-- varsets_name
-- takes: workspace_id text
-- gives: variable
:variables_ranked() :variables_strongest();

-- statement: variables_effective_within
-- The same with the size of all sealed values; the values are null if that exceeds the limit.
-- index: variables_key, variables_varset_key, varset_projects_project, varset_workspaces_workspace,
-- varsets_name
-- takes: workspace_id text, limit bigint
-- gives: id text, key text, category text, hcl boolean, sensitive boolean, beats_run boolean, bytes bigint,
-- value_sealed bytea null
:variables_ranked(),
effective as (:variables_strongest()),
size as (select sum(octet_length(value_sealed)) as bytes from effective)
select e.id, e.key, e.category, e.hcl, e.sensitive, e.beats_run, s.bytes,
    case when s.bytes <= :limit then e.value_sealed end as value_sealed
from effective e
cross join size s
order by e.category, e.key;

-- statement: variable_insert
-- Creates a variable, unless the owner has `max_variables` of them.
-- index: variables_key, variables_varset_key
-- takes: owner_id text, id text, is_set boolean, key text, value_sealed bytea, description text, category text,
-- hcl boolean, sensitive boolean, version text, max_variables bigint
insert into variables
    (id, workspace_id, varset_id, key, value_sealed, description, category, hcl, sensitive, version_id)
select :id, case when not :is_set then :owner_id end, case when :is_set then :owner_id end, :key,
    :value_sealed, :description, :category, :hcl, :sensitive, :version
where (select count(*) from variables v where :variables_owned()) < :max_variables::bigint;

-- statement: variable_update
-- Changes a variable, and its value if there is one. A sensitive variable stays sensitive, even if it became so
-- after the caller's read.
-- index: variables_pkey
-- takes: id text, key text, has_value boolean, value_sealed bytea, description text, category text,
-- hcl boolean, sensitive boolean, version text
update variables
set key = :key, value_sealed = case when :has_value then :value_sealed::bytea else value_sealed end,
    description = :description, category = :category, hcl = :hcl, sensitive = sensitive or :sensitive,
    version_id = :version
where id = :id;

-- statement: variable_delete
-- Deletes the owner's variable.
-- index: variables_pkey
-- takes: owner_id text, id text
delete from variables v where :variables_owned() and v.id = :id;
