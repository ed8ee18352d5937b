-- SPDX-License-Identifier: MPL-2.0
-- Tags of modules.
alter table tag_bindings add column module_id text references registry_modules on delete cascade;
alter table tag_bindings drop constraint tag_bindings_check;
alter table tag_bindings add check (num_nonnulls(workspace_id, project_id, module_id) = 1);
create unique index tag_bindings_module on tag_bindings (module_id, tag_id);
