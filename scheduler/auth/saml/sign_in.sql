-- SPDX-License-Identifier: MPL-2.0

-- statement: saml_attempt_request
-- The provider and the id of the request of an attempt that is not older than ten minutes.
-- index: sign_in_attempts_pkey
-- takes: state_hash text
-- gives: provider_id text, request_id text null
select provider_id, request_id
from sign_in_attempts
where state_hash = :state_hash and created_at > now() - interval '10 minutes';

-- statement: saml_assertion_use
-- Records that the assertion is used. No row is affected if it was used before.
-- takes: id text, expires_at bigint, code_hash text, result jsonb
insert into saml_assertions (id, expires_at, code_hash, result)
values (:id, to_timestamp(:expires_at::bigint), :code_hash, :result)
on conflict (id) do nothing;

-- statement: saml_result_take
-- The result of the code, once, within two minutes.
-- index: saml_assertions_code
-- takes: code_hash text
-- gives: result jsonb null
with taken as (
    select id, result, created_at from saml_assertions where code_hash = :code_hash for update
), emptied as (
    update saml_assertions a
    set code_hash = null, result = null
    from taken t
    where a.id = t.id
)
select result from taken where created_at > now() - interval '2 minutes';

-- statement: saml_assertions_sweep
-- Deletes assertions that are not valid any more, and results that nobody has fetched.
-- index: saml_assertions_expires
with old as (
    update saml_assertions
    set code_hash = null, result = null
    where code_hash is not null and created_at < now() - interval '2 minutes'
)
delete from saml_assertions where expires_at < now() - interval '5 minutes';

-- statement: saml_format_set
-- Stores the format of the subject.
-- index: identities_pkey
-- takes: issuer text, subject text, format text
update identities
set subject_format = :format
where issuer = :issuer and subject = :subject and subject_format is distinct from :format;

-- statement: saml_issuer_set
-- Stores the provider's entity id, which the first answer has told. Another one is never replaced.
-- reads: identity_providers
-- takes: id text, issuer text
update identity_providers set issuer = :issuer where id = :id and issuer = '';

-- statement: saml_logout_subject
-- The name at the provider of the session's user. The provider is no condition of an index: it has many identities.
-- index: sessions_pkey, identities_user
-- takes: hash text, provider_id text
-- gives: subject text, subject_format text null, provider_session text null
select i.subject, i.subject_format, s.provider_session
from sessions s
join identities i on i.user_id = s.user_id
where s.hash = :hash and concat(s.provider_id, '') = :provider_id and concat(i.provider_id, '') = :provider_id
order by i.last_sign_in_at desc
limit 1;

-- statement: saml_session_has_logout
-- A row if the session began through a provider of SAML that has single logout.
-- index: sessions_pkey
-- reads: identity_providers
-- takes: hash text
select 1
from sessions s
join identity_providers p on p.id = s.provider_id
where s.hash = :hash and p.kind = 'saml' and p.settings ->> 'slo-endpoint-url' <> '';

-- statement: saml_sessions_end
-- Ends the sessions of the person at the provider: those that are named, or all if none is.
-- index: identities_pkey, sessions_user
-- takes: issuer text, subject text, provider_id text, sessions text[]
-- gives: user_id text
delete from sessions s
using identities i
where i.issuer = :issuer and i.subject = :subject and s.user_id = i.user_id
    and concat(s.provider_id, '') = :provider_id
    and (cardinality(:sessions::text[]) = 0 or s.provider_session = any(:sessions))
returning s.user_id;
