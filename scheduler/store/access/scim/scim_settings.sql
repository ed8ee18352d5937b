-- SPDX-License-Identifier: MPL-2.0

-- fragment: scim_provider()
-- The provider whose sign-ins reach accounts that SCIM made, by the settings `c`: that of the settings, else that of
-- SAML, else the only one.
coalesce(
    c.provider_id,
    (select p.id from identity_providers p where p.is_enabled and p.kind = 'saml'),
    (select min(p.id) from identity_providers p where p.is_enabled having count(*) = 1)
);

-- statement: scim_settings_read
-- The settings of SCIM, and whether people can sign in through a provider.
-- index: scim_groups_pkey
-- reads: identity_providers, scim_settings
-- gives: is_enabled boolean, is_paused boolean, group_id text null, group_name text null, has_provider boolean,
-- provider_id text null
select c.is_enabled, c.is_paused, c.site_admin_group_id as group_id, g.display_name as group_name,
    exists (select 1 from identity_providers p where p.is_enabled) as has_provider,
    :scim_provider() as provider_id
from scim_settings c
left join scim_groups g on g.id = c.site_admin_group_id;

-- statement: scim_settings_update
-- Changes the settings. The group stays unless `sets_group`, the provider unless `sets_provider`.
-- reads: scim_settings
-- takes: enabled boolean, paused boolean, sets_group boolean, group_id text, sets_provider boolean,
-- provider_id text
update scim_settings
set is_enabled = :enabled, is_paused = :paused,
    site_admin_group_id = case when :sets_group::boolean then :group_id else site_admin_group_id end,
    provider_id = case when :sets_provider::boolean then :provider_id else provider_id end;

-- statement: scim_disable
-- Switches SCIM off, and deletes its groups, users and tokens. Accounts and teams stay.
-- reads: scim_groups, scim_settings, scim_tokens, scim_users
with c as (update scim_settings set is_enabled = false, is_paused = false, site_admin_group_id = null,
        provider_id = null),
t as (delete from scim_tokens),
u as (delete from scim_users)
delete from scim_groups;
