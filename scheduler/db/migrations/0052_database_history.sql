-- SPDX-License-Identifier: MPL-2.0
-- Which history of the database the schedulers have seen last: `<system identifier>/<timeline>`. A promotion and a restore
-- begin another one. An epoch begins where commits may have been lost with the old one.
create table database_history (
	one boolean primary key default true check (one),
	history text,
	epoch bigint not null default 1,
	epoch_at timestamptz, -- when the epoch began; null: it is the first
	-- Commits waited for a synchronous standby when a scheduler looked last.
	durable boolean not null default false
);
insert into database_history default values;
