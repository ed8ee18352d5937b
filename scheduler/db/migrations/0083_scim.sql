-- SPDX-License-Identifier: MPL-2.0
-- SCIM: accounts and groups that an identity provider maintains, and the teams that follow the groups.

-- Accounts that SCIM made. They end with the account.
create table scim_users (
	id text primary key, -- a UUID
	user_id text not null unique references users on delete cascade,
	user_name text not null, -- in the provider's spelling
	external_id text,
	attributes jsonb not null default '{}', -- further attributes as the provider wrote them, named as in SCIM
	gives_site_admin boolean not null default false, -- the site-admin group made the user a site admin
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index scim_users_name on scim_users (lower(user_name));
create index scim_users_external on scim_users (external_id);
create index scim_users_created on scim_users (created_at, id);

create table scim_groups (
	id text primary key, -- a UUID
	display_name text not null,
	external_id text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index scim_groups_name on scim_groups (lower(display_name));
create index scim_groups_external on scim_groups (external_id);
create index scim_groups_created on scim_groups (created_at, id);

create table scim_group_members (
	group_id text not null references scim_groups on delete cascade,
	scim_user_id text not null references scim_users on delete cascade,
	display text, -- as the provider wrote it; null: the user's name
	created_at timestamptz not null default now(),
	primary key (group_id, scim_user_id)
);
create index scim_group_members_user on scim_group_members (scim_user_id);

-- Teams whose members are those of a group.
create table scim_team_mappings (
	team_id text primary key references teams on delete cascade,
	group_id text not null references scim_groups on delete cascade,
	is_paused boolean not null default false, -- changes of the group are not applied
	synced_at timestamptz not null default now()
);
create index scim_team_mappings_group on scim_team_mappings (group_id);

create table scim_settings (
	one boolean primary key default true check (one),
	is_enabled boolean not null default false,
	is_paused boolean not null default false,
	site_admin_group_id text references scim_groups on delete set null,
	provider_id text references identity_providers on delete set null -- whose sign-ins reach accounts that SCIM made
);
create index scim_settings_group on scim_settings (site_admin_group_id);
create index scim_settings_provider on scim_settings (provider_id);
insert into scim_settings default values;

-- Bearer tokens of identity providers.
create table scim_tokens (
	id text primary key, -- at-
	hash text not null unique,
	description text,
	created_by text references users on delete set null,
	last_used_at timestamptz,
	expired_at timestamptz not null,
	created_at timestamptz not null default now()
);
create index scim_tokens_created_by on scim_tokens (created_by) where created_by is not null;

-- The run's creator was suspended before the run was confirmed: it is not applied automatically.
alter table run_inputs add column creator_suspended boolean not null default false;
