-- SPDX-License-Identifier: MPL-2.0
-- Passwords, sessions of browsers, codes of `terraform login`, and who changed what.

-- crypt(3): yescrypt. Without one, nobody signs in as that user with a password.
alter table users add column password_hash text;

-- A browser that signed in. Its cookie is known by its SHA-256 only.
create table sessions (
	hash text primary key,
	user_id text not null references users on delete cascade,
	address text not null,
	created_at timestamptz not null default now(),
	last_seen_at timestamptz not null default now()
);
create index sessions_user on sessions (user_id);

-- What an approved `terraform login` changes for a token, once.
create table oauth_codes (
	hash text primary key,
	user_id text not null references users on delete cascade,
	challenge text not null,
	redirect_uri text not null,
	created_at timestamptz not null default now()
);

-- Nothing here refers to a row: the trail outlives what it tells of. No value is kept of what was changed, only names.
create table audit_events (
	id text primary key,
	position bigint generated always as identity,
	at timestamptz not null default now(),
	organization_id text,
	actor_type text not null,
	actor_id text,
	actor_name text,
	token_id text,
	address text,
	request_id text not null,
	action text not null,
	resource_type text not null,
	resource_id text,
	workspace_id text,
	attributes text[] not null default '{}'
);
create index audit_events_organization on audit_events (organization_id, at, position);
create index audit_events_at on audit_events (at);
