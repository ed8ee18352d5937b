-- SPDX-License-Identifier: MPL-2.0
-- Second factors, sign-ins that wait for one, resets of passwords, mails to users, impersonation.

-- TOTP secrets and passkeys. A factor counts once it is confirmed.
create table second_factors (
	id text primary key, -- 2f-
	user_id text not null references users on delete cascade,
	kind text not null constraint second_factors_kind check (kind in ('totp', 'passkey')),
	name text not null default '',
	is_confirmed boolean not null default false,
	secret_sealed bytea, -- TOTP's secret, in base32
	last_step bigint not null default 0, -- TOTP's step of the last code that was accepted
	failures int not null default 0, -- wrong codes since the last accepted one
	failed_at timestamptz,
	credential_id text, -- of a passkey, in base64url
	algorithm int, -- COSE's number of the passkey's algorithm
	public_key bytea, -- in the form of libfido2
	sign_count bigint not null default 0,
	created_at timestamptz not null default now(),
	last_used_at timestamptz
);
create unique index second_factors_totp on second_factors (user_id) where kind = 'totp';
create index second_factors_user on second_factors (user_id);
create unique index second_factors_credential on second_factors (credential_id) where credential_id is not null;

-- Codes for people who have lost their factors, as SHA-256. A code is deleted when it is used.
create table recovery_codes (
	user_id text not null references users on delete cascade,
	digest text not null,
	primary key (user_id, digest)
);

-- Browsers that have begun to use a factor. A row is valid for ten minutes, and its challenge once.
create table factor_attempts (
	browser_hash text not null, -- SHA-256 of a cookie of the browser
	purpose text not null constraint factor_attempts_purpose check (purpose in ('second_factor', 'passkey', 'registration')),
	user_id text references users on delete cascade, -- null for 'passkey': it tells whose it is
	challenge text, -- WebAuthn's, in base64url; null: none, or used
	return_path text,
	failures int not null default 0,
	created_at timestamptz not null default now(),
	primary key (browser_hash, purpose)
);
create index factor_attempts_created on factor_attempts (created_at);
create index factor_attempts_user on factor_attempts (user_id) where user_id is not null;

-- Links that set a password. A row is deleted when its link is used, or with the user's other ones.
create table password_resets (
	id text primary key,
	user_id text not null references users on delete cascade,
	created_at timestamptz not null default now()
);
create index password_resets_user on password_resets (user_id);
create index password_resets_created on password_resets (created_at);

-- A notification may be a mail to a user.
alter table notifications
	add column recipient_id text references users on delete cascade,
	add column reset_id text references password_resets on delete cascade,
	add column subject_id text references users on delete cascade; -- the user whom the mail is about
alter table notifications drop constraint notifications_check;
alter table notifications
	add constraint notifications_about check (num_nonnulls(configuration_id, membership_id, recipient_id) = 1) not valid;
create index notifications_recipient on notifications (recipient_id) where recipient_id is not null;
create index notifications_reset on notifications (reset_id) where reset_id is not null;
create index notifications_subject on notifications (subject_id) where subject_id is not null;

-- Organizations whose members need a second factor.
create index organizations_two_factor on organizations (id) where settings->>'collaborator-auth-policy' = 'two_factor_mandatory';
