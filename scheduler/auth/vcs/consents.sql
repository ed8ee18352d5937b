-- SPDX-License-Identifier: MPL-2.0

-- statement: consent_insert
-- Stores a consent by its state's digest, and deletes the session's oldest ones from `offset` on.
-- index: vcs_authorizations_session
-- takes: hash text, session text, organization_id text, connection_id text, verifier_sealed bytea,
-- offset bigint, installation bigint
with old as (
    delete from vcs_authorizations
    where state_hash = any(array(
            select state_hash
            from vcs_authorizations
            where session_hash = :session
            order by created_at desc
            offset :offset
        ))
)
insert into vcs_authorizations
    (state_hash, session_hash, organization_id, connection_id, verifier_sealed, installation)
values (
    :hash, :session, :organization_id, :connection_id, :verifier_sealed, nullif(:installation::bigint, 0));

-- statement: consent_redeem
-- Deletes the session's consent, so that it is valid once, and returns it unless it is older than ten minutes.
-- index: vcs_authorizations_session
-- takes: hash text, session text, connection_id text
-- gives: organization_id text, organization_name text, installation bigint, verifier_sealed bytea null
with gone as (
    delete from vcs_authorizations
    where state_hash = :hash and session_hash = :session
        and connection_id is not distinct from :connection_id
    returning *
)
select g.organization_id, o.name as organization_name, coalesce(g.installation, 0) as installation,
    g.verifier_sealed
from gone g
join organizations o on o.id = g.organization_id
where g.created_at > now() - interval '10 minutes';

-- statement: consents_sweep
-- Deletes the consents that have expired.
-- index: vcs_authorizations_created
delete from vcs_authorizations where created_at < now() - interval '10 minutes';
