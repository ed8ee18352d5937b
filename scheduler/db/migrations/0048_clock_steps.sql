-- SPDX-License-Identifier: MPL-2.0
-- How often schedulers have seen the clock of this server step: of several that see a step, one corrects the rows.
create table clock_steps (
	one boolean primary key default true check (one),
	count bigint not null default 0
);
insert into clock_steps default values;
