-- SPDX-License-Identifier: MPL-2.0
-- The right to manage no-code modules (bit 47): of teams that manage modules (bit 39), not of organization tokens.
update teams set rights = rights | (1::bigint << 47) where kind <> 'organization' and rights & (1::bigint << 39) <> 0;
update teams set rights = rights & ~(1::bigint << 47) where kind = 'organization';

-- Tags of providers.
alter table tag_bindings add column provider_id text references registry_providers on delete cascade;
alter table tag_bindings drop constraint tag_bindings_check;
alter table tag_bindings add check (num_nonnulls(workspace_id, project_id, module_id, provider_id) = 1);
create unique index tag_bindings_provider on tag_bindings (provider_id, tag_id);
