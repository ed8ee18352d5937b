-- SPDX-License-Identifier: MPL-2.0
-- What workers can run, and what jobs need of them (proto/capabilities.h). A worker of an earlier version has null; a job
-- that an earlier scheduler created needs ''. `engine`: the program that plans, terraform or tofu; '' until it is chosen.
alter table workers add column capabilities jsonb;
alter table jobs add column needs text not null default '';
alter table operations add column engine text not null default '';
