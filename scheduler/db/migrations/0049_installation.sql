-- SPDX-License-Identifier: MPL-2.0
-- The id that all schedulers of this installation send in each answer: workers and notifiers accept no other answers
-- (common/http/origin.h). It is no secret. One row.
create table installation (
	one boolean primary key default true check (one),
	id text not null
);
insert into installation (id) values ('inst-' || substr(md5(gen_random_uuid()::text), 1, 16));
