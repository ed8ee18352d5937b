-- SPDX-License-Identifier: MPL-2.0

-- statement: test_bed_create
-- Gives a private module its test bed, unless it has one. Its name is none that users can give.
-- index: projects_default, registry_modules_pkey
-- takes: id text, module_id text
insert into workspaces (id, organization_id, name, module_id, project_id, settings)
select :id, m.organization_id, 'test:' || m.id, m.id, p.id, '{
        "test-bed": true, "inherits-project-auto-destroy": false, "queue-all-runs": true,
        "file-triggers-enabled": false}'
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

-- statement: module_tests_require
-- Whether the versions of the module are published only after their tests have passed.
-- index: registry_modules_pkey
-- takes: module_id text, required boolean
update registry_modules set tests_required = :required, updated_at = now() where id = :module_id;

-- statement: test_bed_connect
-- Gives the test bed the repository and the branch of its module, if each commit is tested.
-- index: registry_modules_pkey, workspaces_module
-- takes: module_id text
insert into workspace_repositories (workspace_id, repository_id, branch, ingress_submodules, tags_regex)
select w.id, m.repository_id, m.branch, false, ''
from registry_modules m
join workspaces w on w.module_id = m.id
where m.id = :module_id and m.tests_enabled and m.repository_id is not null
on conflict (workspace_id) do update set branch = excluded.branch;

-- statement: test_bed_disconnect
-- Takes the repository from the test bed, if commits are not tested.
-- index: workspace_repositories_pkey, workspaces_module
-- takes: module_id text
delete from workspace_repositories
where workspace_id = (
    select w.id
    from workspaces w
    join registry_modules m on m.id = w.module_id
    where w.module_id = :module_id and not m.tests_enabled
);
