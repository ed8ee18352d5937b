-- SPDX-License-Identifier: MPL-2.0

-- shape: registry_module
-- total bigint optional, id text, organization_id text, organization_name text, registry_name text, namespace text,
-- name text, provider text, status text, versions jsonb, repository jsonb null, no_code_id text null,
-- no_code boolean, created_at timestamptz, updated_at timestamptz, has_branch boolean, tests_enabled boolean,
-- tests_required boolean, test_mode text null, test_pool_id text null

-- fragment: registry_module_select()
-- Modules `m` of organizations `o`. `versions`: the newest first.
select m.id, m.organization_id, o.name as organization_name, m.registry_name,
    case m.registry_name when 'private' then o.name else m.namespace end as namespace, m.name, m.provider,
    case
        when m.registry_name = 'public' or v.usable then 'setup_complete'
        when v.failed or (m.repository_id is not null and r.looked_at is null and r.look_failures > 0)
            then 'setup_failed'
        when m.repository_id is null or r.looked_at is null or m.tags_due or v.any then 'pending'
        else 'no_version_tags'
    end as status, v.versions, :vcs_used(registry_modules, id, m.id,
        {, 'source-directory', vu.source_directory, 'tag-prefix', vu.tag_prefix}) as repository,
    (select n.id from no_code_modules n where n.module_id = m.id) as no_code_id,
    exists (select 1 from no_code_modules n where n.module_id = m.id and n.enabled) as no_code,
    m.created_at, m.updated_at,
    m.repository_id is not null and m.branch <> '' as has_branch, m.tests_enabled, m.tests_required,
    b.execution_mode as test_mode, b.pool_id as test_pool_id
from registry_modules m
join organizations o on o.id = m.organization_id
left join vcs_repositories r on r.id = m.repository_id
left join workspaces b on b.module_id = m.id
cross join lateral (
    select coalesce(bool_or(x.status = 'ok'), false) as usable,
        coalesce(bool_and(x.status = 'clone_failed'), false) as failed, count(*) > 0 as any,
        coalesce(jsonb_agg(
                jsonb_build_object('version', x.version, 'status', x.status, 'error',
                    coalesce(:module_version_error(x), ''), 'test-run', :module_version_test_run(x),
                    'tests-failed', x.tests_error is not null, 'deprecation', x.deprecation, 'revoked',
                    x.revocation is not null, 'revocation',
                    x.revocation || jsonb_build_object('status', 'Revoked'))
                order by :explorer_version(x.version) desc, x.version), '[]') as versions
    from registry_module_versions x
    where x.module_id = m.id
) v;

-- fragment: modules_shared(p, consumer)
-- Whether the organization `p` shares its modules with the organization `consumer`.
not :p.is_disabled
    and ((:p.admin_settings ->> 'global-module-sharing')::boolean is true
            or exists (
                select 1 from module_consumers c where c.organization_id = :p.id and c.consumer_id = :consumer
            ));

-- fragment: modules_producers(consumer)
-- The organizations that share their modules with the organization `consumer`.
select c.organization_id
from module_consumers c
join organizations p on p.id = c.organization_id
where c.consumer_id = :consumer and not p.is_disabled
union
select p.id
from organizations p
where (p.admin_settings ->> 'global-module-sharing')::boolean and not p.is_disabled;

-- statement: registry_module_create
-- Adds a module. No row: the organization has :max of them.
-- index: registry_modules_address
-- takes: id text, organization_id text, registry_name text, namespace text, name text, provider text, max bigint
-- gives: id text
insert into registry_modules (id, organization_id, registry_name, namespace, name, provider)
select :id, :organization_id, :registry_name, :namespace, :name, :provider
where (select count(*) from registry_modules where organization_id = :organization_id) < :max::bigint
returning id;

-- statement: registry_module_taken
-- A row if the organization has a module of that address.
-- index: registry_modules_address
-- takes: organization_id text, registry_name text, namespace text, name text, provider text
-- gives: id text
select id
from registry_modules
where organization_id = :organization_id and registry_name = :registry_name
    and lower(namespace) = lower(:namespace) and lower(name) = lower(:name) and provider = :provider;

-- statement: registry_module_read
-- The module of that id.
-- index: no_code_modules_module, organizations_pkey, registry_module_versions_version, registry_modules_pkey
-- takes: id text
-- gives: registry_module
:registry_module_select() where m.id = :id;

-- statement: registry_module_find
-- The module that the organization uses by that address: its own, or one that another organization shares with
-- it.
-- index: module_consumers_consumer, no_code_modules_module, organizations_name, organizations_pkey,
-- registry_module_versions_version, registry_modules_address
-- takes: organization_id text, registry_name text, namespace text, name text, provider text
-- gives: registry_module
:registry_module_select()
where m.organization_id = case when :registry_name::text = 'public' then :organization_id
        else (
            select p.id
            from organizations p
            where lower(p.name) = lower(:namespace)
                and (p.id = :organization_id or :modules_shared(p, :organization_id))
        ) end
    and m.registry_name = :registry_name
    and lower(m.namespace) = case when :registry_name = 'public' then lower(:namespace) else '' end
    and lower(m.name) = lower(:name) and m.provider = :provider;

-- statement: registry_modules_list
-- One page of the modules that the organization uses, by name, with the total in each row; one row with a null id
-- if the page is empty. A null filter is none. Tags are those of the organization itself.
-- index: module_consumers_consumer, no_code_modules_module, organizations_pkey, organizations_sharing_modules,
-- registry_module_versions_version, registry_modules_address, registry_modules_pkey, tag_bindings_tag, tags_search
-- takes: organization_id text, search text, registry_name text, owner text, name text, provider text,
-- tag_keys text[] null, tag_values text[] null, limit bigint, offset bigint
-- gives: registry_module
with usable as (
    select m.id, m.organization_id, m.registry_name, m.namespace, m.name, m.provider
    from registry_modules m
    where m.organization_id = :organization_id
    union all
    select m.id, m.organization_id, m.registry_name, m.namespace, m.name, m.provider
    from registry_modules m
    where m.organization_id = any(array(:modules_producers(:organization_id)))
        and m.organization_id <> :organization_id and m.registry_name = 'private'
),
found as (
    select u.id, lower(u.name) as name, u.provider
    from usable u
    join organizations o on o.id = u.organization_id
    where (:registry_name::text is null or u.registry_name = :registry_name)
        and (:provider::text is null or u.provider = :provider)
        and (:name::text is null or lower(u.name) = lower(:name))
        and (:owner::text is null or lower(o.name) = lower(:owner))
        and (:tag_keys::text[] is null or u.id in (:owners_with_tags(:bindings_of_tag(), module_id)))
        and (:search::text is null
                or strpos(lower(u.name), lower(:search)) > 0 or strpos(lower(u.provider), lower(:search)) > 0
                or strpos(lower(case u.registry_name when 'private' then o.name else u.namespace end),
                    lower(:search)) > 0)
),
page as (select id, name, provider from found order by name, provider, id limit :limit offset :offset)
select c.total, f.*
from (select count(*) as total from found) c
left join (
    :registry_module_select()
    where m.id = any(array(select id from page))
) f on true
order by lower(f.name), f.provider, f.id;

-- statement: module_consumers_among
-- Those of the organizations with which the organization shares its modules.
-- index: module_consumers_consumer, organizations_pkey
-- takes: organization_id text, ids text[]
-- gives: id text
select x.id
from organizations p
cross join unnest(:ids::text[]) x(id)
where p.id = :organization_id and :modules_shared(p, x.id);

-- statement: registry_modules_delete
-- Deletes the organization's modules of that name, with their versions. Null is any provider, registry or
-- namespace.
-- index: registry_modules_address
-- takes: organization_id text, registry_name text, namespace text, name text, provider text
-- gives: id text
delete from registry_modules
where organization_id = :organization_id and (:registry_name::text is null or registry_name = :registry_name)
    and (:namespace::text is null or lower(namespace) = lower(:namespace)) and lower(name) = lower(:name)
    and (:provider::text is null or provider = :provider)
returning id;

-- statement: registry_module_connect
-- Makes the tags of the repository the module's versions, or lets it follow a branch.
-- index: registry_modules_pkey
-- takes: id text, repository_id text, branch text, source_directory text, tag_prefix text
update registry_modules
set repository_id = :repository_id, branch = :branch, source_directory = :source_directory, tag_prefix = :tag_prefix,
    tags_due = true
where id = :id;

-- statement: registry_module_set_source
-- Lets the module follow another branch, or take its versions from other tags (the branch is '') or another folder. No
-- row: nothing changes.
-- index: registry_modules_pkey
-- takes: id text, branch text, source_directory text, tag_prefix text
-- gives: repository_id text null
update registry_modules
set branch = :branch, source_directory = :source_directory, tag_prefix = :tag_prefix, tags_due = true,
    tests_enabled = tests_enabled and :branch <> '', updated_at = now()
where id = :id and repository_id is not null
    and (branch, source_directory, tag_prefix) <> (:branch, :source_directory, :tag_prefix)
returning repository_id;

-- statement: registry_module_delete
-- Deletes one module.
-- index: registry_modules_pkey
-- takes: id text
delete from registry_modules where id = :id;
