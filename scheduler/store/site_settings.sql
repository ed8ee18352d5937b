-- SPDX-License-Identifier: MPL-2.0

-- statement: site_settings_read
-- gives: settings jsonb
select settings from site_settings;

-- statement: site_settings_update
-- takes: p1 jsonb
-- gives: settings jsonb
update site_settings set settings = settings || :p1::jsonb returning settings;
