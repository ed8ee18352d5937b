-- SPDX-License-Identifier: MPL-2.0
-- People who sign in through identity providers, and how sessions, tokens and memberships came to be.

-- An identity provider: OIDC (any number) or SAML (one, the API's saml-settings).
create table identity_providers (
	id text primary key, -- idp-
	kind text not null constraint identity_providers_kind check (kind in ('oidc', 'saml')),
	name text not null,
	issuer text not null, -- OIDC's issuer, or the entity id of SAML's provider
	is_enabled boolean not null default true,
	settings jsonb not null default '{}', -- named as in the API, without secrets
	secret_sealed bytea, -- OIDC's client secret, or the private key that signs SAML's requests
	token_days int not null default 0, -- days after the last sign-in for which a person's tokens are valid; 0: no limit
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index identity_providers_name on identity_providers (lower(name));
create unique index identity_providers_issuer on identity_providers (issuer);

-- Accounts at providers. The issuer and the subject decide whose account it is, and nothing else does.
create table identities (
	issuer text not null,
	subject text not null,
	user_id text not null references users on delete cascade,
	provider_id text references identity_providers on delete set null, -- null: the provider was deleted
	created_at timestamptz not null default now(),
	last_sign_in_at timestamptz not null default now(),
	primary key (issuer, subject)
);
create index identities_user on identities (user_id);
create index identities_provider on identities (provider_id) where provider_id is not null;

-- Sign-ins that a browser has begun at a provider. Each is used once, within 10 minutes, by the browser that began it.
create table sign_in_attempts (
	state_hash text primary key, -- SHA-256 of OIDC's `state` or SAML's RelayState
	provider_id text not null references identity_providers on delete cascade,
	browser_hash text not null, -- SHA-256 of a cookie of the browser
	purpose text not null constraint sign_in_attempts_purpose check (purpose in ('sign_in', 'link', 'test', 'confirm')),
	user_id text references users on delete cascade, -- who is signed in; null for 'sign_in'
	request_id text, -- the id of SAML's request
	secrets_sealed bytea, -- OIDC's nonce and code verifier
	return_path text not null,
	created_at timestamptz not null default now()
);
create index sign_in_attempts_created on sign_in_attempts (created_at);
create index sign_in_attempts_user on sign_in_attempts (user_id) where user_id is not null;
create index sign_in_attempts_provider on sign_in_attempts (provider_id);

-- How the session's user has signed in.
alter table sessions
	add column method text not null default 'password', -- password, passkey, oidc, saml
	add column factors text[] not null default '{}', -- further factors: totp, recovery_code, passkey
	add column provider_id text references identity_providers on delete cascade,
	add column provider_session text, -- OIDC's `sid` or SAML's SessionIndex, for a logout at the provider
	add column agent text, -- the browser's User-Agent
	add column authenticated_at timestamptz not null default now(),
	add column impersonator_id text references users on delete cascade, -- the site admin who acts as the user
	add column impersonation_reason text;
create index sessions_provider on sessions (provider_id, provider_session) where provider_id is not null;
create index sessions_impersonator on sessions (impersonator_id) where impersonator_id is not null;

-- The provider through which the token's maker had signed in: the token ends with the identity.
alter table tokens add column provider_id text references identity_providers on delete cascade;
create index tokens_provider on tokens (provider_id) where provider_id is not null;
create index tokens_created_by on tokens (created_by) where created_by is not null;

-- An account that keeps its password where sign-in by a provider is enforced.
alter table users add column is_break_glass boolean not null default false;

-- Who has made the membership: a person, a provider's groups at a sign-in, or SCIM.
alter table organization_memberships add column source text not null default 'manual'
	constraint organization_memberships_source check (source in ('manual', 'sso', 'scim'));
alter table team_members
	add column source text not null default 'manual' constraint team_members_source check (source in ('manual', 'sso', 'scim')),
	add column provider_id text references identity_providers on delete cascade; -- of an 'sso' membership
create index team_members_provider on team_members (provider_id) where provider_id is not null;

-- What an event's names of attributes can't say, such as how a person signed in. Never a secret.
alter table audit_events add column details jsonb not null default '{}';
