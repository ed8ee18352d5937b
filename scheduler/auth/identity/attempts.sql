-- SPDX-License-Identifier: MPL-2.0

-- statement: sign_in_attempt_begin
-- Stores an attempt by the digest of its state.
-- takes: state_hash text, provider_id text, browser_hash text, purpose text, user_id text, request_id text,
-- secrets_sealed bytea, return_path text
insert into sign_in_attempts
    (state_hash, provider_id, browser_hash, purpose, user_id, request_id, secrets_sealed, return_path)
values (
    :state_hash, :provider_id, :browser_hash, :purpose, :user_id, :request_id, :secrets_sealed, :return_path);

-- statement: sign_in_attempt_redeem
-- Deletes the attempt of that browser, so that it is used once, and returns it unless it is older than ten
-- minutes. A provider that is null is any.
-- index: sign_in_attempts_pkey
-- takes: state_hash text, browser_hash text, provider_id text
-- gives: provider_id text, purpose text, user_id text null, request_id text null, secrets_sealed bytea null,
-- return_path text
with gone as (
    delete from sign_in_attempts
    where state_hash = :state_hash and browser_hash = :browser_hash
        and (:provider_id::text is null or provider_id = :provider_id)
    returning *
)
select provider_id, purpose, user_id, request_id, secrets_sealed, return_path
from gone
where created_at > now() - interval '10 minutes';

-- statement: sign_in_attempts_sweep
-- Deletes the attempts that have expired.
-- index: sign_in_attempts_created
delete from sign_in_attempts where created_at < now() - interval '10 minutes';
