-- SPDX-License-Identifier: MPL-2.0

-- shape: site_settings
-- settings jsonb

-- statement: site_settings_read
-- The settings of the site.
-- reads: site_settings
-- gives: site_settings
select settings from site_settings;

-- statement: site_group_update
-- Changes the members of one group that are given, and returns all settings.
-- reads: site_settings
-- takes: name text, changes jsonb
-- gives: site_settings
update site_settings
set settings = settings || jsonb_build_object(
    :name::text, coalesce(settings -> :name::text, '{}') || :changes::jsonb)
returning settings;

-- statement: site_secret_set
-- Stores a secret.
-- takes: name text, sealed bytea
insert into site_secrets (name, value_sealed)
values (:name, :sealed)
on conflict (name) do update set value_sealed = excluded.value_sealed, updated_at = now();

-- statement: site_secret_delete
-- Deletes a secret.
-- index: site_secrets_pkey
-- takes: name text
delete from site_secrets where name = :name;

-- statement: site_secret_read
-- The secret of that name.
-- index: site_secrets_pkey
-- takes: name text
-- gives: value_sealed bytea
select value_sealed from site_secrets where name = :name;

-- statement: site_settings_update
-- Changes the settings that are given, and returns all.
-- reads: site_settings
-- takes: changes jsonb
-- gives: site_settings
update site_settings set settings = settings || :changes::jsonb returning settings;
