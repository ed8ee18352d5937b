-- SPDX-License-Identifier: MPL-2.0

-- statement: factors_of_user
-- The user's confirmed factors, the oldest first.
-- index: second_factors_user
-- takes: user_id text
-- gives: id text, kind text, name text, created_at timestamptz, last_used_at timestamptz null,
-- credential_id text null
select id, kind, name, created_at, last_used_at, credential_id
from second_factors
where user_id = :user_id and is_confirmed
order by created_at, id;

-- statement: factor_standing
-- What the user has, and whether an organization or the site wants a second factor of them.
-- index: organization_memberships_user, organizations_two_factor, recovery_codes_pkey, second_factors_user
-- reads: site_settings
-- takes: user_id text
-- gives: has_app boolean, has_passkey boolean, recovery_codes bigint, is_required boolean, has_password boolean
select exists (
        select 1 from second_factors f where f.user_id = u.id and f.kind = 'totp' and f.is_confirmed
    ) as has_app,
    exists (
        select 1 from second_factors f where f.user_id = u.id and f.kind = 'passkey' and f.is_confirmed
    ) as has_passkey,
    (select count(*) from recovery_codes c where c.user_id = u.id) as recovery_codes,
    u.is_site_admin and :admins_need_factor() or exists (:closed_to_passwords(u.id)) as is_required,
    u.password_hash is not null as has_password
from users u
where u.id = :user_id;

-- statement: totp_forget
-- Deletes the secret of an app that was not confirmed.
-- index: second_factors_totp
-- takes: user_id text
delete from second_factors where user_id = :user_id and kind = 'totp' and not is_confirmed;

-- statement: totp_insert
-- Stores the secret of an app that has to be confirmed, unless the user has an app.
-- takes: id text, user_id text, secret bytea
insert into second_factors (id, user_id, kind, name, secret_sealed)
values (:id, :user_id, 'totp', 'Authenticator app', :secret)
on conflict (user_id) where kind = 'totp' do nothing;

-- statement: totp_lock
-- Locks and returns the user's app. It takes no code for a while after wrong ones: `is_limited`. From the fifth
-- wrong code in a row on, the time doubles from half a minute to an hour.
-- index: second_factors_totp
-- takes: user_id text
-- gives: id text, secret_sealed bytea null, last_step bigint, is_confirmed boolean, is_limited boolean
select id, secret_sealed, last_step, is_confirmed,
    failures >= 5 and failed_at > now() - make_interval(secs => least(30 * power(2, least(failures, 20) - 5), 3600))
        as is_limited
from second_factors
where user_id = :user_id and kind = 'totp'
for update;

-- statement: totp_accepted
-- Records the step of an accepted code, which confirms the app.
-- index: second_factors_pkey
-- takes: id text, step bigint
update second_factors
set last_step = :step, is_confirmed = true, failures = 0, failed_at = null, last_used_at = now()
where id = :id;

-- statement: totp_failed
-- Records a wrong code.
-- index: second_factors_pkey
-- takes: id text
update second_factors set failures = failures + 1, failed_at = now() where id = :id;

-- statement: passkey_insert
-- Stores a passkey, unless it is registered already.
-- takes: id text, user_id text, name text, credential text, algorithm integer, public_key bytea,
-- sign_count bigint
insert into second_factors (
    id, user_id, kind, name, is_confirmed, credential_id, algorithm, public_key, sign_count)
values (:id, :user_id, 'passkey', :name, true, :credential, :algorithm, :public_key, :sign_count)
on conflict (credential_id) where credential_id is not null do nothing;

-- statement: passkey_find
-- The passkey, if its user may sign in; of one user, if `user_id` is not null.
-- index: second_factors_credential, users_pkey
-- reads: site_settings
-- takes: credential text, user_id text
-- gives: id text, user_id text, username text null, algorithm integer null, public_key bytea null
select f.id, f.user_id, u.username, f.algorithm, f.public_key
from second_factors f
join users u on u.id = f.user_id and not u.is_suspended and not u.is_service_account and :takes_password(u)
where f.credential_id = :credential and (:user_id::text is null or f.user_id = :user_id);

-- statement: passkey_used
-- Records the use of a passkey, if its counter has grown or the authenticator has none.
-- index: second_factors_pkey
-- takes: id text, sign_count bigint
update second_factors
set sign_count = :sign_count, last_used_at = now()
where id = :id and (sign_count < :sign_count or (sign_count = 0 and :sign_count = 0));

-- statement: factor_delete
-- Deletes one of the user's factors.
-- index: second_factors_user
-- takes: id text, user_id text
-- gives: kind text
delete from second_factors where id = :id and user_id = :user_id and is_confirmed returning kind;

-- statement: recovery_codes_clean
-- Deletes the recovery codes of a user who has no factor.
-- index: recovery_codes_pkey, second_factors_user
-- takes: user_id text
delete from recovery_codes
where user_id = :user_id
    and not exists (select 1 from second_factors f where f.user_id = :user_id and f.is_confirmed);

-- statement: factors_delete
-- Deletes all of the user's factors and recovery codes, and counts the factors.
-- index: recovery_codes_pkey, second_factors_user
-- takes: user_id text
-- gives: factors bigint
with f as (delete from second_factors where user_id = :user_id returning is_confirmed),
c as (delete from recovery_codes where user_id = :user_id)
select count(*) filter (where is_confirmed) as factors
from f;

-- statement: recovery_codes_delete
-- Deletes the user's recovery codes.
-- index: recovery_codes_pkey
-- takes: user_id text
delete from recovery_codes where user_id = :user_id;

-- statement: recovery_codes_insert
-- Stores the digests of recovery codes.
-- takes: user_id text, digests text[]
insert into recovery_codes (user_id, digest)
select :user_id, d
from unnest(:digests::text[]) d;

-- statement: recovery_code_use
-- Deletes the code, so that it is valid once.
-- index: recovery_codes_pkey
-- takes: user_id text, digest text
delete from recovery_codes where user_id = :user_id and digest = :digest;

-- statement: owner_without_factor
-- An owner of the organization who signs in with a password and has no second factor.
-- index: second_factors_user, team_members_pkey, teams_name, users_pkey
-- takes: organization_id text
-- gives: username text null
select u.username
from teams t
join team_members m on m.team_id = t.id
join users u on u.id = m.user_id
where t.organization_id = :organization_id and t.kind = 'owners' and u.password_hash is not null
    and not :has_factor(u.id)
order by u.username
limit 1;
