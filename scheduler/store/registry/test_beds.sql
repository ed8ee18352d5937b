-- SPDX-License-Identifier: MPL-2.0

-- statement: test_bed_create
-- Gives a private module its test bed, unless it has one. Its name is none that users can give.
-- index: projects_default, registry_modules_pkey
-- takes: id text, module_id text
insert into workspaces (id, organization_id, name, module_id, project_id, settings)
select :id, m.organization_id, 'test:' || m.id, m.id, p.id, '{"test-bed": true, "inherits-project-auto-destroy": false}'
from registry_modules m
join projects p on p.organization_id = m.organization_id and p.is_default
where m.id = :module_id and m.registry_name = 'private'
on conflict (module_id) where module_id is not null do nothing;

-- statement: test_bed_find
-- The module's test bed; no row: it has none yet.
-- index: workspaces_module
-- takes: module_id text
-- gives: workspace_id text
select id as workspace_id from workspaces where module_id = :module_id;

-- statement: test_bed_set_pool
-- Where the tests run: remote, or on the agents of a pool.
-- index: workspaces_module
-- takes: module_id text, mode text, pool_id text
update workspaces set execution_mode = :mode, pool_id = :pool_id, updated_at = now() where module_id = :module_id;

-- statement: module_tests_enable
-- Whether each commit of the module's branch is tested.
-- index: registry_modules_pkey
-- takes: module_id text, enabled boolean
update registry_modules set tests_enabled = :enabled, updated_at = now() where id = :module_id;
