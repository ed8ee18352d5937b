-- SPDX-License-Identifier: MPL-2.0

-- fragment: repositories_columns(user)
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

-- fragment: repositories_visible(user)
-- Members see the repositories of the workspaces that they see, and managers of connections all.
(((:rights_in_organization(:user, r.organization_id)) & (1 | (1::bigint << 38)) <> 0)
        or exists (
            select 1
            from workspace_repositories u
            where u.repository_id = r.id
                and (:rights_in_workspace(:user, r.organization_id, u.workspace_id)) & 1 <> 0
        ));

-- fragment: repositories_tables()
from vcs_repositories r
left join vcs_connections c on c.id = r.connection_id
left join vcs_tokens t on t.connection_id = c.id;

-- fragment: vcs_used_by_workspace(user)
(
    select jsonb_build_object(
        'repository', vr.id, 'identifier', vr.identifier, 'branch', vu.branch, 'ingress-submodules',
            vu.ingress_submodules, 'token', vt.id, 'installation', vr.installation_id, 'provider',
            coalesce(vc.provider, 'github_app'), 'http-url', vc.http_url, 'api-url', vc.api_url,
            'web-url', vr.web_url, 'hook', vr.hook, 'tags-regex', vu.tags_regex)
    from workspace_repositories vu
    join vcs_repositories vr on vr.id = vu.repository_id
    left join vcs_connections vc on vc.id = vr.connection_id
    left join vcs_tokens vt on vt.connection_id = vc.id
    where vu.workspace_id = :user
);

-- fragment: vcs_used_by_policy_set(user)
(
    select jsonb_build_object(
        'repository', vr.id, 'identifier', vr.identifier, 'branch', vu.branch, 'ingress-submodules',
            vu.ingress_submodules, 'token', vt.id, 'installation', vr.installation_id, 'provider',
            coalesce(vc.provider, 'github_app'), 'http-url', vc.http_url, 'api-url', vc.api_url,
            'web-url', vr.web_url, 'hook', vr.hook)
    from policy_set_repositories vu
    join vcs_repositories vr on vr.id = vu.repository_id
    left join vcs_connections vc on vc.id = vr.connection_id
    left join vcs_tokens vt on vt.connection_id = vc.id
    where vu.policy_set_id = :user
);

-- statement: connection_find
-- takes: token_id text, organization_id text
-- gives: id text, provider text, api_url text
select c.id, c.provider, c.api_url
from vcs_tokens t
join vcs_connections c on c.id = t.connection_id
where t.id = :token_id and c.organization_id = :organization_id;

-- statement: repositories_installation_find
-- takes: installation_id text, organization_id text
-- gives: id text
select id
from vcs_installations
where id = :installation_id and organization_id = :organization_id and removed_at is null
for key share;

-- statement: repository_ensure
-- takes: id text, organization_id text, connection text, connection_2 text null, identifier text, buf_str bytea
insert into vcs_repositories
    (id, organization_id, connection_id, installation_id, identifier, hook_secret_sealed)
values (:id, :organization_id, :connection, :connection_2, :identifier, :buf_str)
on conflict do nothing;

-- statement: repository_find
-- takes: connection text, organization_id text, installation text, identifier text
-- gives: id text
select id
from vcs_repositories
where connection_id = :connection and identifier = :identifier
union all
select id
from vcs_repositories
where organization_id = :organization_id and installation_id = :installation
    and lower(identifier) = lower(:identifier)
limit 1;

-- statement: vcs_use_of_policies
-- takes: policy_set_id text, policies_path text, patterns jsonb
update policy_set_repositories
set policies_path = :policies_path, update_patterns = :patterns::jsonb
where policy_set_id = :policy_set_id;

-- statement: vcs_available_check
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
-- look_failures integer, look_error text null, created_at timestamptz, provider text, api_url text,
-- http_url text, token_id text, workspaces jsonb, policy_sets jsonb

-- statement: vcs_repositories_list
-- takes: organization_id text, limit bigint, offset bigint, user text
-- gives: vcs_repository
select n.total, r.*
from (
    select count(*) as total
    from vcs_repositories r
    where r.organization_id = :organization_id and :repositories_visible(:user)
) n
left join (
    select :repositories_columns(:user) :repositories_tables()
    where r.organization_id = :organization_id and :repositories_visible(:user)
    order by lower(r.identifier), r.id
    limit :limit
    offset :offset
) r on true
order by lower(r.identifier), r.id;

-- statement: vcs_repository_read
-- takes: id text, user text
-- gives: vcs_repository
select :repositories_columns(:user) :repositories_tables()
where r.id = :id and :repositories_visible(:user);

-- statement: vcs_hook_secret_read
-- takes: id text
-- gives: hook_secret_sealed bytea null
select hook_secret_sealed from vcs_repositories where id = :id;

-- statement: vcs_hook_secret_rotate_update
-- takes: id text, buf_str bytea
update vcs_repositories
set hook_previous_sealed = hook_secret_sealed, hook_previous_until = now() + interval '1 day',
    hook_secret_sealed = :buf_str
where id = :id;

-- statement: vcs_hook_secret_rotate_update_2
-- takes: id text
update vcs_hooks set version = version + 1, due_at = now() where repository_id = :id;
