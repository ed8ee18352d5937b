-- SPDX-License-Identifier: MPL-2.0

-- fragment: relaxed()
-- Makes the statement's commit asynchronous, so that a read does not wait for the disk. A crash of PostgreSQL
-- may lose the time of a use.
with relaxed as (select set_config('synchronous_commit', 'off', true));

-- statement: token_owner
-- The valid token with that digest and its owner, unless the owner is suspended: a row for each of the owner's
-- organizations.
-- index: organization_memberships_user, organizations_closed, organizations_limiting, organizations_two_factor,
-- second_factors_user, team_members_user, teams_id_organization_id_key, tokens_hash_key
-- reads: site_settings
-- takes: hash text
-- gives: requester
select k.id, k.user_id, k.pool_id, k.notifier, u.username, u.is_site_admin, u.is_service_account,
    o.organization_id, o.rights, k.provider_id,
    :closed({
        :closed_to_tokens(k.user_id, k.created_at)
        union all
        :closed_without_sso(k.user_id, k.provider_id)
        union all
        :closed_without_factor(k.user_id, k.provider_id)
    }) as closed,
    coalesce(:admin_without_factor(k.provider_id), false) as lacks_factor,
    coalesce(k.last_used_at < now() - interval '1 minute', true) as stale, k.read_only,
    k.workspace_id as only_workspace, not k.is_use_noted as first_use
from tokens k
left join users u on u.id = k.user_id :memberships()
where k.hash = :hash and :token_valid() and u.is_suspended is not true;

-- statement: token_use
-- Records the use of the token.
-- index: tokens_hash_key
-- takes: like token_owner
:relaxed() update tokens set last_used_at = now() from relaxed where hash = :hash;

-- statement: token_use_note
-- Notes that the audit trail has the token's first use; returns its organization, if this is the first request to
-- note it. A crash of PostgreSQL may lose both: the next use is then noted.
-- index: agent_pools_pkey, teams_id_organization_id_key, tokens_pkey
-- takes: id text
-- gives: organization_id text null
:relaxed() update tokens k
set is_use_noted = true
from relaxed
where k.id = :id and not k.is_use_noted
returning coalesce((select p.organization_id from agent_pools p where p.id = k.pool_id),
    (select t.organization_id from teams t where t.id = k.team_id)) as organization_id;

-- fragment: proof_minutes(provider)
-- The minutes after which the provider's site admins must prove again who they are; null: never.
(
    select (p.settings ->> 'site-admin-max-age')::int
    from identity_providers p
    where p.id = :provider
);

-- statement: session_owner
-- The valid session with that digest and its user, unless the user is suspended: a row for each of the user's
-- organizations.
-- index: organization_memberships_user, organizations_two_factor, second_factors_user, team_members_user,
-- teams_id_organization_id_key, users_pkey
-- reads: site_settings
-- takes: like token_owner
-- gives: requester
select null as id, s.user_id, null as pool_id, false as notifier, u.username, u.is_site_admin,
    u.is_service_account, o.organization_id, o.rights, s.provider_id,
    case when s.impersonator_id is null then
            :closed({
                :closed_without_sso(s.user_id, s.provider_id)
                union all
                :closed_without_factor(s.user_id, s.provider_id)
            }) end as closed,
    s.impersonator_id is null and :admin_without_factor(s.provider_id) as lacks_factor, s.impersonator_id,
    a.username as impersonator_name,
    s.last_seen_at < now() - interval '1 minute' as stale,
    coalesce(s.authenticated_at < now() - make_interval(mins => :proof_minutes(s.provider_id)), false) as must_confirm,
    false as read_only, null as only_workspace, false as first_use
from sessions s
join users u on u.id = s.user_id and not u.is_suspended
left join users a on a.id = s.impersonator_id :memberships() :session_limits()
where s.hash = :hash and :session_valid();

-- statement: session_use
-- Records the use of the session.
-- index: sessions_pkey
-- takes: like token_owner
:relaxed() update sessions set last_seen_at = now() from relaxed where hash = :hash;

-- statement: task_token_find
-- The run of a run task's token. The token is valid while the task's result is open.
-- index: task_results_open
-- takes: hash text
-- gives: run_id text
select run_id from task_results where token_hash = :hash and status in ('pending', 'running');

-- shape: given_rights
-- rights bigint

-- statement: rights_given_anywhere
-- The rights that the user's teams have in any project or workspace of the organization.
-- index: team_members_user, team_projects_team, team_workspaces_team
-- takes: user text, organization text
-- gives: given_rights
select coalesce(bit_or(g.rights), 0) as rights
from team_members m
join (select team_id, rights from team_projects union all select team_id, rights from team_workspaces) g
    on g.team_id = m.team_id
where m.user_id = :user and m.organization_id = :organization;

-- statement: rights_given_in_workspace
-- The user's rights in the workspace.
-- index: team_members_user, team_projects_project, team_workspaces_workspace, teams_organization
-- takes: user text, organization text, workspace text
-- gives: given_rights
select :rights_in_workspace(:user, :organization, :workspace) as rights;

-- statement: rights_given_in_project
-- The user's rights in the project.
-- index: team_members_user, team_projects_project, team_workspaces_workspace, teams_organization,
-- workspaces_project
-- takes: user text, organization text, project text
-- gives: given_rights
select :rights_in_project(:user, :organization, :project) as rights;

-- statement: task_reads
-- A row if the task's run is the run and has the configuration version that are asked for; null is any.
-- index: run_inputs_pkey
-- takes: own_run_id text, run_id text, configuration_version_id text
select 1
from run_inputs
where run_id = :own_run_id and (:run_id::text is null or run_id = :run_id)
    and (:configuration_version_id::text is null or configuration_version_id = :configuration_version_id);
