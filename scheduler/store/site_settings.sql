-- SPDX-License-Identifier: MPL-2.0

-- shape: site_settings
-- settings jsonb

-- statement: site_settings_read
-- The settings of the site.
-- reads: site_settings
-- gives: site_settings
select settings from site_settings;

-- statement: site_settings_update
-- Changes the settings that are given, and returns all.
-- reads: site_settings
-- takes: changes jsonb
-- gives: site_settings
update site_settings set settings = settings || :changes::jsonb returning settings;
