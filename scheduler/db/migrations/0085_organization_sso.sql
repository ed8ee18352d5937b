-- SPDX-License-Identifier: MPL-2.0
-- What organizations ask of the sign-in of their members.

create table organization_sso (
	organization_id text primary key references organizations on delete cascade,
	is_required boolean not null default false, -- members must have signed in through one of the providers
	domains text[] not null default '{}', -- of addresses, in lower case, that lead to the first of the providers
	updated_at timestamptz not null default now()
);

-- The providers that an organization accepts: their groups lead to its teams.
create table organization_providers (
	organization_id text not null references organizations on delete cascade,
	provider_id text not null references identity_providers on delete cascade,
	primary key (organization_id, provider_id)
);
create index organization_providers_provider on organization_providers (provider_id);

-- The groups that lead to teams.
create index teams_group on teams (coalesce(nullif(sso_team_id, ''), name)) where kind = 'team';
create index organizations_owners_role on organizations ((settings ->> 'owners-team-saml-role-id'))
	where settings ->> 'owners-team-saml-role-id' <> '';

-- Proofs of back-channel logouts. Each is used once.
create table logout_tokens (
	id text primary key, -- SHA-256 of the issuer and the token's `jti`
	expires_at timestamptz not null
);
create index logout_tokens_expires on logout_tokens (expires_at);
