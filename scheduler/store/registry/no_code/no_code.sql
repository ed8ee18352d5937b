-- SPDX-License-Identifier: MPL-2.0

-- fragment: no_code_version(n)
-- The version that the no-code module `n` provisions: the pinned one, else the newest one that is no prerelease, else
-- the newest one. Null if it can't be used.
(
    select v.version
    from registry_module_versions v
    where v.module_id = :n.module_id and v.status = 'ok' and v.revocation is null
        and (:n.version_pin is null or v.version = :n.version_pin)
    order by split_part(v.version, '+', 1) like '%-%', :explorer_version(v.version) desc, v.version
    limit 1
);

-- statement: no_code_create
-- Adds a no-code module.
-- takes: id text, organization_id text, module_id text, version_pin text, enabled boolean, options jsonb
insert into no_code_modules (id, organization_id, module_id, version_pin, enabled, options)
values (:id, :organization_id, :module_id, :version_pin, :enabled, :options);

-- statement: no_code_switch
-- Makes the module a no-code module, or switches it on or off as one. Its other settings stay.
-- index: no_code_modules_module
-- takes: id text, organization_id text, module_id text, enabled boolean
insert into no_code_modules (id, organization_id, module_id, enabled, options)
select :id, :organization_id, :module_id, :enabled, '[]'
where :enabled or exists (select 1 from no_code_modules where module_id = :module_id)
on conflict (module_id) do update set enabled = excluded.enabled, updated_at = now();

-- statement: no_code_read
-- The no-code module of that id. `version`: the one of new workspaces.
-- index: no_code_modules_pkey, organizations_pkey, registry_module_versions_version, registry_modules_pkey
-- takes: id text
-- gives: id text, organization_id text, organization_name text, module_id text, module_name text,
-- module_provider text, version_pin text null, enabled boolean, options jsonb, version text null,
-- version_id text null
select n.id, n.organization_id, o.name as organization_name, n.module_id, m.name as module_name,
    m.provider as module_provider, n.version_pin, n.enabled, n.options, x.version, y.id as version_id
from no_code_modules n
join organizations o on o.id = n.organization_id
join registry_modules m on m.id = n.module_id
cross join lateral (select :no_code_version(n) as version) x
left join registry_module_versions y on y.module_id = n.module_id and y.version = x.version
where n.id = :id;

-- statement: no_code_update
-- Replaces the settings.
-- index: no_code_modules_pkey
-- takes: id text, module_id text, version_pin text, enabled boolean, options jsonb
update no_code_modules
set module_id = :module_id, version_pin = :version_pin, enabled = :enabled, options = :options, updated_at = now()
where id = :id;

-- statement: no_code_delete
-- Deletes the no-code module. Its workspaces stay.
-- index: no_code_modules_pkey
-- takes: id text
delete from no_code_modules where id = :id;

-- statement: no_code_workspace_set
-- Notes the module and the version that the workspace's configuration calls.
-- takes: workspace_id text, no_code_module_id text, module text, version text
insert into no_code_workspaces (workspace_id, no_code_module_id, module, version)
values (:workspace_id, :no_code_module_id, :module, :version)
on conflict (workspace_id) do update set module = excluded.module, version = excluded.version;

-- statement: no_code_workspace_find
-- A row if the workspace was made from a no-code module; the id of that module, which may have been deleted.
-- index: no_code_workspaces_pkey
-- takes: workspace_id text
-- gives: no_code_module_id text null
select no_code_module_id from no_code_workspaces where workspace_id = :workspace_id;

-- statement: no_code_keys
-- The names of the workspace's variables for terraform.
-- index: variables_key
-- takes: workspace_id text
-- gives: key text
select key from variables where workspace_id = :workspace_id and category = 'terraform' order by key;

-- statement: no_code_variable_find
-- The workspace's variable of that name and category.
-- index: variables_key
-- takes: workspace_id text, key text, category text
-- gives: id text
select id from variables where workspace_id = :workspace_id and key = :key and category = :category;
