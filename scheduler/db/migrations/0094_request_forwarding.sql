-- SPDX-License-Identifier: MPL-2.0
-- Requests to services that only the workers of an agent pool reach.
alter table tasks add column pool_id text references agent_pools;
create index tasks_pool on tasks (pool_id) where pool_id is not null;
alter table task_results add column pool_id text; -- the task's when the run was created
alter table vcs_hook_removals add column pool_id text; -- that of the deleted connection

-- One row for each try of such a request. A row is deleted when its answer was read, or a minute after `until`.
create table forwards (
	id text primary key,
	pool_id text not null references agent_pools on delete cascade,
	receiver text, -- who waits for the answer: a notifier's process; null: a thread of a scheduler
	request_sealed bytea not null,
	time_ms integer not null, -- that the request may take
	state text not null default 'waiting' check (state in ('waiting', 'claimed', 'ended')),
	worker_id text,
	answer_sealed bytea,
	until timestamptz not null, -- of waiting and claimed ones: without an answer, the try has failed then
	created_at timestamptz not null default now()
);
create index forwards_pool on forwards (pool_id, created_at);
create index forwards_receiver on forwards (receiver) where receiver is not null;
