-- SPDX-License-Identifier: MPL-2.0
-- What operators set while the system runs: maintenance, drained pools and workers, quotas.

-- The site's maintenance: no run leaves `pending` while there is a reason. Every decision about a queue reads this row.
-- A change locks the table exclusively, so it waits for decisions that have read the old row (store/maintenance.h).
create table maintenance (
	one boolean primary key default true check (one),
	reason text, -- null: none
	since timestamptz not null default now(),
	is_resuming boolean not null default false, -- it ended, and runs that waited for that are being started
	changes bigint not null default 0
);
insert into maintenance default values;

-- A drained pool: none of its workers claims jobs.
alter table agent_pools add column drained_at timestamptz;

-- The operator's order to a worker: null (work), drain (claim no jobs) or leave (drain, then exit).
alter table workers add column ordered text constraint workers_ordered check (ordered in ('drain', 'leave'));

-- The number of runs that may be worked on at a time, of an organization or of a pool. No row: no limit.
create table run_quotas (
	organization_id text unique references organizations on delete cascade,
	pool_id text unique references agent_pools on delete cascade,
	runs integer not null check (runs >= 0),
	constraint run_quotas_of_one check (num_nonnulls(organization_id, pool_id) = 1)
);
