-- SPDX-License-Identifier: MPL-2.0
-- What a run's plan costs a month. Made with the run where cost estimation is on; the numbers come from a worker, with the
-- document that has each resource's.

create table cost_estimates (
	id text primary key,
	run_id text not null unique references runs on delete cascade,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	prior_monthly_cost numeric,
	proposed_monthly_cost numeric,
	delta_monthly_cost numeric,
	currency text,
	resources_count integer not null default 0,
	matched_resources_count integer not null default 0,
	unmatched_resources_count integer not null default 0,
	document jsonb,
	error_message text,
	created_at timestamptz not null default now()
);
