-- SPDX-License-Identifier: MPL-2.0
-- The hooks of a deleted organization are deleted at their providers, too, so these rows outlive it.
alter table vcs_hook_removals drop constraint vcs_hook_removals_organization_id_fkey;
alter table vcs_calls alter column organization_id drop not null; -- null: the call of a removal
