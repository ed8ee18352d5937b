-- SPDX-License-Identifier: MPL-2.0
-- A hold ends by the last state, by a person, or when no process of the apply can be left (scheduler/lifecycle/hold.h).

-- Set when an apply is claimed; null: its worker names no limit, or is of an earlier version.
alter table jobs add column deadline timestamptz;

-- workspace_holds.until is that deadline now, 'infinity' if there is none, and null when it holds no more. A scheduler
-- of the earlier version reads it as before. Its own holds ended by a timer: those that are there wait for their state
-- or a person.
update workspace_holds set until = 'infinity' where until is not null;

-- What is needed to stop a terraform that lives on; null: of an earlier version.
alter table workspace_holds add column attempt integer;
alter table workspace_holds add column worker_id text;
alter table workspace_holds add column stop smallint not null default 0;
-- The attempt ended by its own result: its workspace waits for a state alone.
alter table workspace_holds add column engine_ended boolean not null default false;
-- When the log said that it lasts long.
alter table workspace_holds add column alerted_at timestamptz;
create index workspace_holds_stops on workspace_holds (job_id) where stop > 0 and until is not null;
