-- SPDX-License-Identifier: MPL-2.0
-- Notifications: who wants to be told of which events, what is on its way to them, and what they last answered.

create table notification_configurations (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	workspace_id text references workspaces on delete cascade,
	project_id text references projects on delete cascade,
	team_id text references teams on delete cascade,
	name text not null,
	enabled boolean not null,
	destination_type text not null check (destination_type in ('generic', 'slack', 'microsoft-teams', 'email')),
	url text,
	token_sealed bytea,
	triggers text[] not null default '{}',
	email_addresses text[] not null default '{}',
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	constraint notification_configurations_subscribable check (num_nonnulls(workspace_id, project_id, team_id) = 1),
	constraint notification_configurations_url check ((url is null) = (destination_type = 'email'))
);
create index notification_configurations_organization on notification_configurations (organization_id);
create index notification_configurations_workspace on notification_configurations (workspace_id, created_at);
create index notification_configurations_project on notification_configurations (project_id, created_at);
create index notification_configurations_team on notification_configurations (team_id, created_at);

create table notification_users (
	configuration_id text not null references notification_configurations on delete cascade,
	user_id text not null references users on delete cascade,
	primary key (configuration_id, user_id)
);
create index notification_users_user on notification_users (user_id);

-- What is on its way: a row goes when it was delivered or given up. `delivery` is how far it is: waiting (to be claimed),
-- claimed (a notifier has it, until lease_until). Without a run it is a verification.
create table notifications (
	id text primary key,
	configuration_id text not null references notification_configurations on delete cascade,
	run_id text references runs on delete cascade,
	trigger text not null,
	run_status text,
	happened_at timestamptz not null,
	actor_id text references users on delete set null,
	delivery text not null default 'waiting',
	attempt integer not null default 0,
	notifier text,
	give_up_at timestamptz not null,
	lease_until timestamptz,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create index notifications_configuration on notifications (configuration_id);
create index notifications_run on notifications (run_id);
create index notifications_waiting on notifications (created_at, id) where delivery = 'waiting';
create index notifications_leases on notifications (lease_until) where delivery = 'claimed';

-- The latest few answers of each destination.
create table notification_responses (
	id bigint generated always as identity primary key,
	configuration_id text not null references notification_configurations on delete cascade,
	url text not null,
	code text not null,
	body text not null,
	headers jsonb not null default '{}',
	successful boolean not null,
	sent_at timestamptz not null default now()
);
create index notification_responses_configuration on notification_responses (configuration_id, id);
