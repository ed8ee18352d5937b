-- SPDX-License-Identifier: MPL-2.0

-- fragment: vcs_repository_columns(user)
-- workspaces: the ids of those that the user may see.
r.id, r.organization_id, r.connection_id, r.installation_id, r.identifier, r.external_id,
    r.default_branch, r.web_url, r.state, r.error, r.hook, r.hook_external_id, r.hook_error,
    r.hook_previous_until, r.looked_at, r.look_due, r.look_failures, r.look_error, r.created_at,
    :vcs_dialect_columns(), c.http_url, t.id as token_id,
    (
        select coalesce(jsonb_agg(u.workspace_id order by u.workspace_id), '[]')
        from workspace_repositories u
        where u.repository_id = r.id
            and (:rights_in_workspace(:user, r.organization_id, u.workspace_id)) & 1 <> 0
    ) as workspaces,
    (
        select coalesce(jsonb_agg(u.policy_set_id order by u.policy_set_id), '[]')
        from policy_set_repositories u
        where u.repository_id = r.id
    ) as policy_sets;

-- fragment: vcs_repository_visible(user)
-- Members see the repositories of the workspaces that they see, and managers of connections all.
(((:rights_in_organization(:user, r.organization_id)) & (1 | (1::bigint << 38)) <> 0)
        or exists (
            select 1
            from workspace_repositories u
            where u.repository_id = r.id
                and (:rights_in_workspace(:user, r.organization_id, u.workspace_id)) & 1 <> 0
        ));

-- fragment: vcs_repository_tables()
from vcs_repositories r
left join vcs_connections c on c.id = r.connection_id
left join vcs_tokens t on t.connection_id = c.id;

-- fragment: vcs_used(table, column, user, more)
-- The repository that a workspace, policy set or module uses, as a jsonb object; null: none. `user` is the SQL of its
-- id, `more` are further members.
(
    select jsonb_build_object(
        'repository', vr.id, 'identifier', vr.identifier, 'branch', vu.branch, 'ingress-submodules',
            vu.ingress_submodules, 'token', vt.id, 'installation', vr.installation_id, 'provider',
            coalesce(vc.provider, 'github_app'), 'http-url', vc.http_url, 'api-url', vc.api_url,
            'web-url', vr.web_url, 'hook', vr.hook:more)
    from :table vu
    join vcs_repositories vr on vr.id = vu.repository_id
    left join vcs_connections vc on vc.id = vr.connection_id
    left join vcs_tokens vt on vt.connection_id = vc.id
    where vu.:column = :user
);

-- fragment: vcs_used_by_workspace(user)
:vcs_used(workspace_repositories, workspace_id, :user, {, 'tags-regex', vu.tags_regex});

-- fragment: vcs_used_by_policy_set(user)
:vcs_used(policy_set_repositories, policy_set_id, :user, {});

-- shape: vcs_used
-- organization_id text, project_id text null, settings jsonb, repository jsonb null

-- statement: vcs_workspace_use_read
-- The repository that the workspace uses.
-- index: vcs_tokens_connection_id_key
-- takes: user_id text
-- gives: vcs_used
select u.organization_id, u.project_id, u.settings, :vcs_used_by_workspace(u.id) as repository
from workspaces u
where u.id = :user_id;

-- statement: vcs_policy_set_use_read
-- The repository that the policy set uses.
-- index: vcs_tokens_connection_id_key
-- takes: like vcs_workspace_use_read
-- gives: vcs_used
select u.organization_id, null as project_id, u.settings, :vcs_used_by_policy_set(u.id) as repository
from policy_sets u
where u.id = :user_id;

-- statement: vcs_workspace_use_set
-- Connects the workspace to the repository. It has no path and no patterns: both are null.
-- takes: user_id text, repository_id text, branch text, ingress_submodules boolean, tags_regex text,
-- policies_path text, update_patterns jsonb
insert into workspace_repositories (workspace_id, repository_id, branch, ingress_submodules, tags_regex)
select :user_id, :repository_id, :branch, :ingress_submodules, :tags_regex
where :policies_path::text is null and :update_patterns::jsonb is null
on conflict (workspace_id) do update set repository_id = excluded.repository_id,
    branch = excluded.branch, ingress_submodules = excluded.ingress_submodules,
    tags_regex = excluded.tags_regex;

-- statement: vcs_policy_set_use_set
-- Connects the policy set to the repository. It has no expression for tags: '' is given.
-- takes: like vcs_workspace_use_set
insert into policy_set_repositories
    (policy_set_id, repository_id, branch, ingress_submodules, policies_path, update_patterns)
select :user_id, :repository_id, :branch, :ingress_submodules, :policies_path, :update_patterns::jsonb
where :tags_regex::text = ''
on conflict (policy_set_id) do update set repository_id = excluded.repository_id,
    branch = excluded.branch, ingress_submodules = excluded.ingress_submodules,
    policies_path = excluded.policies_path, update_patterns = excluded.update_patterns;

-- statement: vcs_workspace_use_clear
-- Disconnects the workspace.
-- index: workspace_repositories_pkey
-- takes: user_id text
delete from workspace_repositories where workspace_id = :user_id;

-- statement: vcs_policy_set_use_clear
-- Disconnects the policy set.
-- index: policy_set_repositories_pkey
-- takes: like vcs_workspace_use_clear
delete from policy_set_repositories where policy_set_id = :user_id;

-- statement: vcs_connection_of_token
-- The connection of the organization that the token belongs to.
-- index: vcs_connections_organization
-- takes: token_id text, organization_id text
-- gives: id text, provider text, api_url text
select c.id, c.provider, c.api_url
from vcs_tokens t
join vcs_connections c on c.id = t.connection_id
where t.id = :token_id and c.organization_id = :organization_id;

-- statement: vcs_installation_of_organization
-- Prevents the deletion of the installation until the transaction ends.
-- index: vcs_installations_organization
-- takes: installation_id text, organization_id text
-- gives: id text
select id
from vcs_installations
where id = :installation_id and organization_id = :organization_id and removed_at is null
for key share;

-- statement: vcs_repository_ensure
-- Inserts the repository with the secret of its hook, unless it exists. One of connection and installation is
-- null.
-- takes: id text, organization_id text, connection_id text, installation_id text, identifier text,
-- secret_sealed bytea
insert into vcs_repositories
    (id, organization_id, connection_id, installation_id, identifier, hook_secret_sealed)
values (:id, :organization_id, :connection_id, :installation_id, :identifier, :secret_sealed)
on conflict do nothing;

-- statement: vcs_repository_find
-- GitHub does not distinguish names by case.
-- index: vcs_repositories_connection, vcs_repositories_owner
-- takes: connection_id text, organization_id text, installation_id text, identifier text
-- gives: id text
select id
from vcs_repositories
where connection_id = :connection_id and identifier = :identifier
union all
select id
from vcs_repositories
where organization_id = :organization_id and installation_id = :installation_id
    and lower(identifier) = lower(:identifier)
limit 1;

-- statement: vcs_use_of_policies
-- Copies the path and the patterns of a policy set that has a repository.
-- index: policy_set_repositories_pkey
-- takes: policy_set_id text, policies_path text, patterns jsonb
update policy_set_repositories
set policies_path = :policies_path, update_patterns = :patterns::jsonb
where policy_set_id = :policy_set_id;

-- statement: vcs_available_check
-- One of the workspaces whose repository has a connection that is not available in its project.
-- index: vcs_connection_projects_project
-- takes: ids text[]
-- gives: name text
select w.name
from workspace_repositories u
join vcs_repositories r on r.id = u.repository_id
join vcs_connections c on c.id = r.connection_id
join workspaces w on w.id = u.workspace_id
where u.workspace_id = any(:ids::text[]) and not c.organization_scoped
    and not exists (
        select 1
        from vcs_connection_projects m
        where m.connection_id = c.id and m.project_id = w.project_id
    )
limit 1;

-- shape: vcs_repository
-- total bigint optional, id text, organization_id text, connection_id text null, installation_id text null,
-- identifier text null, external_id text null, default_branch text null, web_url text null, state text,
-- error text null, hook text, hook_external_id text null, hook_error text null,
-- hook_previous_until timestamptz null, looked_at timestamptz null, look_due timestamptz,
-- look_failures integer, look_error text null, created_at timestamptz, provider text, api_url text null,
-- http_url text null, token_id text null, workspaces jsonb, policy_sets jsonb

-- statement: vcs_repositories_list
-- A page of the organization's repositories that the user may see, by name.
-- index: policy_set_repositories_repository, team_members_user, team_projects_project,
-- team_workspaces_workspace, teams_organization, vcs_repositories_organization
-- takes: organization_id text, limit bigint, offset bigint, user text
-- gives: vcs_repository
select n.total, r.*
from (
    select count(*) as total
    from vcs_repositories r
    where r.organization_id = :organization_id and :vcs_repository_visible(:user)
) n
left join (
    select :vcs_repository_columns(:user) :vcs_repository_tables()
    where r.organization_id = :organization_id and :vcs_repository_visible(:user)
    order by lower(r.identifier), r.id
    limit :limit
    offset :offset
) r on true
order by lower(r.identifier), r.id;

-- statement: vcs_repository_read
-- The repository, if the user may see it.
-- index: policy_set_repositories_repository, team_members_user, team_projects_project,
-- team_workspaces_workspace, teams_organization, vcs_tokens_connection_id_key
-- takes: id text, user text
-- gives: vcs_repository
select :vcs_repository_columns(:user) :vcs_repository_tables()
where r.id = :id and :vcs_repository_visible(:user);

-- statement: vcs_hook_secret_read
-- The secret of the repository's hook.
-- index: vcs_repositories_pkey
-- takes: id text
-- gives: hook_secret_sealed bytea null
select hook_secret_sealed from vcs_repositories where id = :id;

-- statement: vcs_hook_secret_rotate
-- Stores a new secret, and accepts the previous one for another day.
-- index: vcs_repositories_pkey
-- takes: id text, secret_sealed bytea
update vcs_repositories
set hook_previous_sealed = hook_secret_sealed, hook_previous_until = now() + interval '1 day',
    hook_secret_sealed = :secret_sealed
where id = :id;

-- statement: vcs_hook_renew
-- Makes the check of the hook due, which sends the new secret to the provider.
-- index: vcs_hooks_pkey
-- takes: id text
update vcs_hooks set version = version + 1, due_at = now() where repository_id = :id;
