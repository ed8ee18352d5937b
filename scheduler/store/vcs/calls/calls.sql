-- SPDX-License-Identifier: MPL-2.0

-- fragment: call_columns()
-- The columns of vcs_call_of.
c.id, c.repository_id, c.removal_id, c.subject, c.purpose, c.operation, c.arguments, c.version, c.tries,
    coalesce(c.connection_id, c.installation_id, m.connection) as owner,
    coalesce(k.provider, m.provider, 'github_app') as provider, coalesce(k.api_url, m.api_url) as api_url,
    coalesce(r.identifier, m.identifier) as identifier, c.token_generation,
    c.token_generation <> coalesce(t.generation, i.generation) as token_replaced;

-- fragment: call_tables()
from vcs_calls c
left join vcs_connections k on k.id = c.connection_id
left join vcs_repositories r on r.id = c.repository_id
left join vcs_hook_removals m on m.id = c.removal_id
left join vcs_tokens t on t.connection_id = c.connection_id
left join vcs_installations i on i.id = c.installation_id;

-- fragment: is_of_owner()
-- Whether the call is of the connection or installation :owner.
(connection_id = :owner or installation_id = :owner
        or removal_id = any(array(select id from vcs_hook_removals where connection = :owner)));

-- statement: vcs_repository_external_id
-- The provider's id of the repository; null: not known.
-- index: vcs_repositories_pkey
-- takes: repository_id text
-- gives: external_id text null
select external_id from vcs_repositories where id = :repository_id;

-- statement: vcs_call_add
-- Inserts a call of the repository, or of the connection if there is no repository.
-- index: vcs_connections_pkey, vcs_repositories_pkey
-- takes: purpose text, urgency smallint, writes boolean, repository_id text, connection_id text, subject text
:calls_insert({organization_id, connection_id, installation_id, repository_id, subject},
    {coalesce(r.organization_id, c.organization_id), coalesce(r.connection_id, c.id), r.installation_id, r.id, :subject
    from (select :repository_id::text as repository, :connection_id::text as connection) u
    left join vcs_repositories r on r.id = u.repository
    left join vcs_connections c on c.id = u.connection
    where num_nonnulls(r.id, c.id) > 0});

-- statement: vcs_limits_ensure
-- Inserts the missing limits of the owners, which are connections or installations. -1: a bucket that was never
-- used.
-- takes: owners text[]
insert into vcs_limits (owner_id, minute_left, hour_left)
select distinct u, -1, -1
from unnest(:owners::text[]) u
order by u
on conflict do nothing;

-- statement: vcs_limits_lock
-- Locks the limits of all owners, in one order. Times are seconds.
-- index: vcs_limits_pkey
-- takes: owners text[]
-- gives: owner_id text, minute_left double precision, hour_left double precision, since_refill numeric,
-- blocked numeric null
select owner_id, minute_left, hour_left, extract(epoch from now() - refilled_at) as since_refill,
    extract(epoch from blocked_until - now()) as blocked
from vcs_limits
where owner_id = any(:owners::text[])
order by owner_id
for update;

-- statement: vcs_calls_put_off
-- Puts off the owner's due calls that write, or all.
-- index: vcs_calls_connection, vcs_calls_installation, vcs_calls_removal, vcs_hook_removals_connection
-- takes: owner text, wait_s double precision, all boolean
update vcs_calls
set due_at = now() + make_interval(secs => :wait_s)
where :is_of_owner() and delivery = 'waiting' and due_at <= now() and (writes or :all);

-- statement: vcs_limit_store
-- Stores what is left of the credential's limits.
-- index: vcs_limits_pkey
-- takes: owner text, minute double precision, hour double precision
update vcs_limits
set minute_left = :minute::real, hour_left = :hour::real, refilled_at = now()
where owner_id = :owner;

-- statement: vcs_call_put_off
-- Counts a try of the call, and tries it again later.
-- index: vcs_calls_pkey
-- takes: id text, wait_s double precision, why text
update vcs_calls
set delivery = 'waiting', tries = tries + 1, error = left(:why, 500),
    due_at = now() + make_interval(secs => :wait_s), updated_at = now()
where id = :id;

-- statement: vcs_call_claim
-- Claims the call with its next request, without the secret.
-- index: vcs_calls_pkey
-- takes: id text, notifier text, lease_seconds double precision, operation text, arguments jsonb,
-- version bigint, token_generation bigint
update vcs_calls
set delivery = 'claimed', attempt = attempt + 1, notifier = :notifier,
    lease_until = now() + make_interval(secs => :lease_seconds), operation = :operation,
    arguments = :arguments::jsonb, version = :version, token_generation = :token_generation,
    updated_at = now()
where id = :id;

-- shape: vcs_call
-- attempt integer optional, writes boolean optional, id text, repository_id text null, removal_id text null,
-- subject text, purpose text, operation text, arguments jsonb, version bigint, tries integer, owner text,
-- provider text, api_url text, identifier text null, token_generation bigint null, token_replaced boolean

-- statement: vcs_calls_due
-- The candidates: the most urgent calls that are due. Those that workers send, only with `forwards`.
-- index: vcs_calls_due, vcs_tokens_connection_id_key
-- takes: asked jsonb, max bigint, forwards boolean
-- gives: vcs_call
select c.attempt, c.writes, :call_columns() :call_tables()
where c.delivery = 'waiting' and c.due_at <= now() and (:forwards or coalesce(k.pool_id, m.pool_id) is null)
    and
    (jsonb_array_length(:asked::jsonb) = 0 or c.id in (select jsonb_array_elements_text(:asked::jsonb)))
order by c.urgency, c.due_at, c.id
limit :max
for update of c skip locked;

-- statement: vcs_verifications_enqueue
-- Inserts calls for the connections whose token is not verified, at most :max. Azure DevOps and plain git have
-- no request that tries credentials alone.
-- index: vcs_tokens_connection_id_key
-- takes: like vcs_lookups_enqueue
:calls_insert({organization_id, connection_id},
    {k.organization_id, k.id
    from vcs_tokens t
    join vcs_connections k on k.id = t.connection_id
    where t.state = 'unverified' and t.token_sealed is not null
        and k.provider not in ('git', 'ado_services', 'ado_server')
    limit :max});

-- statement: vcs_lookups_enqueue
-- Inserts calls for the repositories that are not verified, at most :max. An installation whose first token has
-- not arrived has no calls.
-- index: vcs_connections_pkey, vcs_installations_pkey
-- reads: vcs_repositories
-- takes: purpose text, urgency smallint, writes boolean, max bigint
:calls_insert({organization_id, connection_id, installation_id, repository_id},
    {v.organization_id, v.connection_id, v.installation_id, v.id
    from vcs_repositories v
    left join vcs_connections k on k.id = v.connection_id
    left join vcs_installations i on i.id = v.installation_id
    where v.state = 'unverified' and (k.provider <> 'git' or i.token_sealed is not null)
    limit :max});

-- statement: vcs_calls_rescue
-- Lets calls wait again whose notifier was lost.
-- index: vcs_calls_lease
update vcs_calls
set delivery = 'waiting', updated_at = now()
where id = any(array(
        select id
        from vcs_calls
        where delivery = 'claimed' and lease_until < now()
        order by lease_until
        limit 500
        for update skip locked
    ));

-- statement: vcs_call_lock
-- Locks the call of an answer. No row: it has ended, or was claimed again.
-- index: vcs_tokens_connection_id_key
-- takes: id text, attempt integer
-- gives: vcs_call
select :call_columns() :call_tables()
where c.id = :id and c.attempt = :attempt and c.delivery = 'claimed'
for update of c;

-- statement: vcs_call_end
-- The call has ended.
-- index: vcs_calls_pkey
-- takes: id text
delete from vcs_calls where id = :id;

-- statement: vcs_call_goes_on
-- Makes the next step of the call due at once.
-- index: vcs_calls_pkey
-- takes: id text, arguments jsonb
update vcs_calls
set delivery = 'waiting', tries = 0, error = null, arguments = :arguments::jsonb, due_at = now(),
    updated_at = now()
where id = :id;

-- statement: vcs_limit_block
-- Blocks the credential, and puts off all of its calls.
-- index: vcs_calls_connection, vcs_calls_due, vcs_calls_installation, vcs_calls_removal,
-- vcs_hook_removals_connection
-- takes: owner text, wait_s double precision
with blocked as (
    update vcs_limits
    set blocked_until = greatest(coalesce(blocked_until, now()), now() + make_interval(secs => :wait_s))
    where owner_id = :owner
    returning blocked_until
)
update vcs_calls
set due_at = b.blocked_until
from blocked b
where :is_of_owner() and delivery = 'waiting' and due_at < b.blocked_until;

-- statement: vcs_limit_note
-- Stores why the last call failed; null: it succeeded, which leaves the reason of a pause.
-- index: vcs_limits_pkey
-- takes: connection_id text, why text
update vcs_limits
set error = left(:why, 500)
where owner_id = :connection_id and error is distinct from left(:why, 500)
    and (:why::text is not null or blocked_until is null or blocked_until <= now());
