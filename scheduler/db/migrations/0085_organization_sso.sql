-- SPDX-License-Identifier: MPL-2.0
-- What organizations ask of the sign-in of their members.

create table organization_sso (
	organization_id text primary key references organizations on delete cascade,
	is_required boolean not null default false, -- members must have signed in through one of the providers
	domains text[] not null default '{}', -- of addresses, in lower case, that lead to the first of the providers
	updated_at timestamptz not null default now()
);
create index organization_sso_required on organization_sso (organization_id) where is_required;

-- The providers that an organization accepts: their groups lead to its teams.
create table organization_providers (
	organization_id text not null references organizations on delete cascade,
	provider_id text not null references identity_providers on delete cascade,
	primary key (organization_id, provider_id)
);
create index organization_providers_provider on organization_providers (provider_id, organization_id);

-- The groups that lead to teams.
create index teams_group on teams (coalesce(nullif(sso_team_id, ''), name));
create index organizations_owners_role on organizations ((settings ->> 'owners-team-saml-role-id'))
	where settings ->> 'owners-team-saml-role-id' <> '';

-- The provider through which the person had signed in who gave the consent of `terraform login`.
alter table oauth_codes add column provider_id text references identity_providers on delete cascade;
create index oauth_codes_provider on oauth_codes (provider_id) where provider_id is not null;

-- Proofs of back-channel logouts. Each is used once.
create table logout_tokens (
	id text primary key, -- SHA-256 of the issuer and the token's `jti`
	expires_at timestamptz not null
);
create index logout_tokens_expires on logout_tokens (expires_at);
