-- SPDX-License-Identifier: MPL-2.0
-- One row per minute of what runs wait for, of the last day: of the site, and of each organization in which runs are in
-- progress (store/workers/queue_stats.h).
create table queue_samples (
	organization_id text not null, -- '': the site
	taken_at timestamptz not null, -- the beginning of the minute
	pending integer not null, -- runs that wait for their turn or for a worker
	running integer not null, -- runs with a job that a worker has
	deciding integer not null, -- runs that wait for a person
	slots integer not null, -- of live workers
	oldest_seconds real not null, -- the longest wait of a pending run
	start_p50 real, -- seconds from creation to the plan's start, of runs whose plan started in the last hour; null: none
	start_p95 real,
	errors integer not null, -- runs that ended errored in the last hour
	primary key (organization_id, taken_at)
);
create index queue_samples_taken on queue_samples (taken_at);
