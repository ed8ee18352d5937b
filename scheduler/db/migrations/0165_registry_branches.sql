-- SPDX-License-Identifier: MPL-2.0
-- Versions of modules that users have requested from a repository, and that have no content yet.
create index registry_module_versions_requested on registry_module_versions (module_id)
	where status = 'pending' and source <> 'tfe-api';
