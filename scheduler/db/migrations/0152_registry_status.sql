-- SPDX-License-Identifier: MPL-2.0
-- Versions of modules that should not be used any more, and those that can't be.
alter table registry_module_versions add column deprecation jsonb; -- {reason, link}, each a text
alter table registry_module_versions add column revocation jsonb; -- {message, link}
alter table registry_module_versions add constraint registry_module_versions_revoked check (revocation is null or deprecation is not null);
