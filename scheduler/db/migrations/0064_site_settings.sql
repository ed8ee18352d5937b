-- SPDX-License-Identifier: MPL-2.0
-- What site admins set for all of the installation. One row.
create table site_settings (
	one boolean primary key default true check (one),
	settings jsonb not null default '{}'
);
insert into site_settings default values;
