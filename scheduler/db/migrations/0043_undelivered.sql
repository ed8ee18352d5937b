-- SPDX-License-Identifier: MPL-2.0
-- How many results and last states of ended jobs the scheduler lacks, as the worker's last heartbeat said
-- (runyard_workers_undelivered).
alter table workers add column undelivered integer not null default 0;
