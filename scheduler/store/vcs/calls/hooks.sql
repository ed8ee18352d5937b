-- SPDX-License-Identifier: MPL-2.0

-- statement: vcs_hooks_enqueue
-- Inserts the calls that check hooks, at most :max: of repositories without a row in vcs_hooks, whose check is
-- due, or which came into use or out of it. A day later the hook is checked again, because a user may have
-- deleted it at the provider.
-- index: policy_set_repositories_repository, registry_modules_repository, workspace_repositories_repository
-- takes: like vcs_lookups_enqueue
with due as (
    select v.id, v.organization_id, v.connection_id, :repository_is_used(v) as used
    from vcs_repositories v
    join vcs_connections k on k.id = v.connection_id
    left join vcs_hooks h on h.repository_id = v.id
    where k.provider <> 'git' and (h.repository_id is null or h.due_at <= now() or h.used <> :repository_is_used(v))
    limit :max
),
noted as (
    insert into vcs_hooks (repository_id, used, due_at)
    select id, used, now() + interval '20 hours' + random() * interval '8 hours'
    from due
    on conflict (repository_id) do update set used = excluded.used, due_at = excluded.due_at
)
:calls_insert({organization_id, connection_id, repository_id}, {organization_id, connection_id, id from due});

-- statement: vcs_hook_state
-- The hook that the provider has, and the version of the secret that it should have.
-- index: policy_set_repositories_repository, registry_modules_repository, workspace_repositories_repository
-- takes: id text
-- gives: hook text, hook_external_id text null, version bigint, sent_version bigint, used boolean
select v.hook, v.hook_external_id, coalesce(h.version, 1) as version,
    coalesce(h.sent_version, 0) as sent_version, :repository_is_used(v) as used
from vcs_repositories v
left join vcs_hooks h on h.repository_id = v.id
where v.id = :id;

-- statement: vcs_hook_store
-- Stores the hook and the version of its secret that the provider has. Once it has the newest one, the previous
-- one is accepted for ten more minutes, for deliveries that were already sent. A newer one is sent by the next
-- call.
-- index: vcs_hooks_pkey, vcs_repositories_pkey
-- takes: repository_id text, external_id text, version bigint
with sent as (
    update vcs_hooks
    set sent_version = greatest(sent_version, :version), due_at = case
        when greatest(sent_version, :version) < version then now() else due_at end
    where repository_id = :repository_id
    returning sent_version = version as newest
)
update vcs_repositories
set hook_external_id = :external_id, hook_error = null, hook_previous_until = case
    when hook_previous_until is not null
    and coalesce((select newest from sent), false) then least(
        hook_previous_until, now() + interval '10 minutes') else hook_previous_until end
where id = :repository_id;

-- statement: vcs_hook_refused
-- A repository that is not used has no hook any more.
-- index: policy_set_repositories_repository, registry_modules_repository, workspace_repositories_repository
-- takes: repository_id text, why text
update vcs_repositories v
set hook_error = left(:why, 500), hook_external_id = case when :repository_is_used(v) then hook_external_id end
where id = :repository_id;
