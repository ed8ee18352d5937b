-- SPDX-License-Identifier: MPL-2.0
-- Assertions of SAML that were used, and the format of names at the provider.

-- An assertion is used once, at whatever scheduler. The browser fetches its result with a code, once.
create table saml_assertions (
	id text primary key, -- SHA-256 of the issuer and the assertion's ID
	expires_at timestamptz not null, -- the assertion is not valid any more
	code_hash text, -- SHA-256 of the code; null: the result was fetched
	result jsonb, -- what the assertion says, and the state of the attempt that it answers
	created_at timestamptz not null default now()
);
create unique index saml_assertions_code on saml_assertions (code_hash);
create index saml_assertions_expires on saml_assertions (expires_at);

-- SAML's Format of the subject, which a logout at the provider must repeat.
alter table identities add column subject_format text;
