-- SPDX-License-Identifier: MPL-2.0
-- Agent pools as their organizations keep them, workers as the agents that people see, and the token that a run has itself.

alter table agent_pools add column organization_scoped boolean not null default true;

-- Workspaces that may use a pool that is not for all, or (excluded) may not whatever else says so.
create table agent_pool_workspaces (
	pool_id text not null references agent_pools on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	excluded boolean not null,
	primary key (pool_id, workspace_id)
);
create index agent_pool_workspaces_workspace on agent_pool_workspaces (workspace_id);

create table agent_pool_projects (
	pool_id text not null references agent_pools on delete cascade,
	project_id text not null references projects on delete cascade,
	primary key (pool_id, project_id)
);
create index agent_pool_projects_project on agent_pool_projects (project_id);

create index workspaces_pool on workspaces (pool_id) where pool_id is not null;

-- A pool is deleted when no run of it is left to do; those that ended outlive it.
alter table run_inputs alter column pool_id drop not null;
alter table run_inputs drop constraint run_inputs_pool_id_fkey;
alter table run_inputs add foreign key (pool_id) references agent_pools on delete set null;

create index tokens_pool on tokens (pool_id) where pool_id is not null;

-- A worker speaks for itself with a token of its own, so that one whose agent token was revoked can end what it has.
alter table workers add column token_hash text;
alter table workers add column left_at timestamptz;
alter table workers add column failed boolean not null default false;
create unique index workers_token on workers (token_hash);

-- What the job's program may ask the API with, as long as the attempt lasts.
alter table jobs add column run_token_hash text;
create unique index jobs_run_token on jobs (run_token_hash) where run_token_hash is not null;
