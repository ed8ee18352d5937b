-- SPDX-License-Identifier: MPL-2.0

-- fragment: tag_page(conditions, limit, offset)
-- One page of the tags `f` that match the conditions, by name.
with found as (select f.id, f.name from tags f where :conditions)
select c.total, t.*
from (select count(*) as total from found) c
left join (
    select t.id, t.name, o.name as organization_name,
        (select count(*) from tag_bindings b where b.tag_id = t.id and b.workspace_id is not null) as instance_count
    from tags t
    join organizations o on o.id = t.organization_id
    where t.id in (select id from found order by name limit :limit offset :offset)
) t on true
order by t.name;

-- fragment: tags_chosen()
-- One row per chosen tag that exists, by id or by name.
select t.id, t.id = any(:ids::text[]) as by_id
from tags t
where t.organization_id = :organization_id and (t.id = any(:ids::text[]) or t.name = any(:names::text[]));

-- fragment: bindings(from, owner)
-- The bindings of the owners of one kind, each owner's own before those that it inherits.
select e.id, e.key, e.value, e.inherited_from, e.:owner as owner
from :from e
where e.:owner = any(:owners::text[])
order by e.:owner, e.inherited_from is not null, e.position;

-- fragment: bindings_own()
-- The bindings of workspaces, projects, modules and providers, without inherited ones.
(select b.*, t.name as key, null::text as inherited_from from tag_bindings b join tags t on t.id = b.tag_id);

-- fragment: bindings_of_tag()
-- Those of a tag `t`, without inherited ones.
lateral (select * from tag_bindings where tag_id = t.id) e;

-- fragment: owners_with_tags(from, owner)
-- The owners of one kind that have all of the organization's tags; a value of '' is any value. `from` has the bindings
-- `e` of a tag `t`.
select e.:owner
from unnest(:tag_keys::text[], :tag_values::text[]) with ordinality x(key, value, place)
join tags t on t.organization_id = :organization_id and lower(t.name) = lower(x.key)
join :from on x.value = '' or e.value = x.value
where e.:owner is not null
group by e.:owner
having count(distinct x.place) = array_length(:tag_keys::text[], 1);

-- shape: binding
-- id text null, key text null, value text null, inherited_from text null, owner text null

-- statement: bindings_of_workspaces
-- The workspaces' own bindings.
-- index: tag_bindings_workspace
-- takes: owners text[]
-- gives: binding
:bindings(:bindings_own(), workspace_id);

-- statement: bindings_of_projects
-- The projects' own bindings.
-- index: tag_bindings_project
-- takes: like bindings_of_workspaces
-- gives: binding
:bindings(:bindings_own(), project_id);

-- statement: bindings_of_modules
-- The modules' bindings.
-- index: tag_bindings_module
-- takes: like bindings_of_workspaces
-- gives: binding
:bindings(:bindings_own(), module_id);

-- statement: bindings_of_providers
-- The providers' bindings.
-- index: tag_bindings_provider
-- takes: like bindings_of_workspaces
-- gives: binding
:bindings(:bindings_own(), provider_id);

-- statement: bindings_effective
-- The workspaces' bindings and those of their projects.
-- index: tag_bindings_project, tag_bindings_tag, tag_bindings_workspace
-- takes: like bindings_of_workspaces
-- gives: binding
:bindings(effective_tags, workspace_id);

-- fragment: tags_bind(column)
-- Binds tags, which exist, to the owner in the order of the arrays; replaces the values of those that are
-- bound.
insert into tag_bindings (id, tag_id, :column, value)
select u.id, t.id, :owner, u.value
from unnest(:ids::text[], :keys::text[], :values::text[]) with ordinality u(id, key, value, place)
join tags t on t.organization_id = :organization_id and t.name = u.key
order by u.place
on conflict (:column, tag_id) do update set value = excluded.value;

-- fragment: tags_unbind_others(column)
-- Deletes the owner's bindings of all other tags.
delete from tag_bindings b
using tags t
where t.id = b.tag_id and b.:column = :owner and t.name <> all(:keys::text[]);

-- shape: tags_bound
-- bound bigint

-- statement: workspace_tags_bind
-- Binds tags to the workspace.
-- index: tags_name
-- takes: organization_id text, ids text[], keys text[], values text[], owner text
:tags_bind(workspace_id);

-- statement: project_tags_bind
-- The same for a project.
-- index: tags_name
-- takes: like workspace_tags_bind
:tags_bind(project_id);

-- statement: module_tags_bind
-- The same for a module.
-- index: tags_name
-- takes: like workspace_tags_bind
:tags_bind(module_id);

-- statement: provider_tags_bind
-- The same for a provider.
-- index: tags_name
-- takes: like workspace_tags_bind
:tags_bind(provider_id);

-- statement: workspace_tags_unbind_others
-- Deletes the workspace's bindings of all other tags.
-- index: tag_bindings_workspace
-- takes: owner text, keys text[]
:tags_unbind_others(workspace_id);

-- statement: project_tags_unbind_others
-- The same for a project.
-- index: tag_bindings_project
-- takes: like workspace_tags_unbind_others
:tags_unbind_others(project_id);

-- statement: module_tags_unbind_others
-- The same for a module.
-- index: tag_bindings_module
-- takes: like workspace_tags_unbind_others
:tags_unbind_others(module_id);

-- statement: provider_tags_unbind_others
-- The same for a provider.
-- index: tag_bindings_provider
-- takes: like workspace_tags_unbind_others
:tags_unbind_others(provider_id);

-- statement: workspace_tags_count
-- The number of the workspace's bindings.
-- index: tag_bindings_workspace
-- takes: owner text
-- gives: tags_bound
select count(*) as bound from tag_bindings where workspace_id = :owner;

-- statement: project_tags_count
-- The number of the project's bindings.
-- index: tag_bindings_project
-- takes: like workspace_tags_count
-- gives: tags_bound
select count(*) as bound from tag_bindings where project_id = :owner;

-- statement: module_tags_count
-- The number of the module's bindings.
-- index: tag_bindings_module
-- takes: like workspace_tags_count
-- gives: tags_bound
select count(*) as bound from tag_bindings where module_id = :owner;

-- statement: provider_tags_count
-- The number of the provider's bindings.
-- index: tag_bindings_provider
-- takes: like workspace_tags_count
-- gives: tags_bound
select count(*) as bound from tag_bindings where provider_id = :owner;

-- statement: workspace_tags_lock
-- Locks the workspace: serializes writers of its bindings, so that their count is correct.
-- index: workspaces_pkey
-- takes: owner text
select 1 from workspaces where id = :owner for no key update;

-- statement: project_tags_lock
-- The same for a project.
-- index: projects_pkey
-- takes: like workspace_tags_lock
select 1 from projects where id = :owner for no key update;

-- statement: module_tags_lock
-- The same for a module.
-- index: registry_modules_pkey
-- takes: like workspace_tags_lock
select 1 from registry_modules where id = :owner for no key update;

-- statement: provider_tags_lock
-- The same for a provider.
-- index: registry_providers_pkey
-- takes: like workspace_tags_lock
select 1 from registry_providers where id = :owner for no key update;

-- statement: tags_ensure
-- Creates those of the tags that do not exist.
-- takes: organization_id text, ids text[], names text[]
insert into tags (id, organization_id, name)
select u.id, :organization_id, u.name
from unnest(:ids::text[], :names::text[]) u(id, name)
on conflict (organization_id, name) do nothing;

-- shape: tag
-- total bigint, id text, name text, organization_name text, instance_count bigint

-- statement: tags_of_workspace
-- One page of the workspace's tags: its bindings without a value.
-- index: tag_bindings_tag, tag_bindings_workspace
-- takes: workspace_id text, limit bigint, offset bigint
-- gives: tag
:tag_page(
    f.id in (select tag_id from tag_bindings where workspace_id = :workspace_id and value = ''), :limit,
        :offset);

-- statement: tags_list
-- One page of the organization's tags, without the excluded ones and those of the excluded workspaces.
-- index: tag_bindings_tag, tags_search
-- takes: organization_id text, search text, exclude text, limit bigint, offset bigint
-- gives: tag
:tag_page(f.organization_id = :organization_id
        and (:search::text is null or strpos(lower(f.name), lower(:search)) > 0)
        and (:exclude::text is null
                or not (f.id = any(string_to_array(:exclude, ','))
                        or exists (
                            select 1
                            from tag_bindings b
                            where b.tag_id = f.id and b.workspace_id = any(string_to_array(:exclude, ','))
                        ))), :limit, :offset);

-- statement: tags_add
-- Binds the tags to the workspace. Counts those that were selected by id, the new bindings, and the former
-- ones.
-- index: tag_bindings_workspace, tags_search
-- takes: organization_id text, ids text[], names text[], workspace_id text, binding_ids text[]
-- gives: by_id bigint, added bigint, bound bigint
with chosen as (:tags_chosen()),
added as (
    insert into tag_bindings (id, tag_id, workspace_id)
    select (:binding_ids::text[])[row_number() over ()], c.id, :workspace_id
    from chosen c
    on conflict (workspace_id, tag_id) do nothing
    returning 1
)
select (select count(*) from chosen where by_id) as by_id, (select count(*) from added) as added,
    (select count(*) from tag_bindings where workspace_id = :workspace_id) as bound;

-- statement: tags_remove
-- Unbinds the tags from the workspace.
-- index: tag_bindings_workspace, tags_search
-- takes: organization_id text, ids text[], names text[], workspace_id text
delete from tag_bindings
where workspace_id = :workspace_id and tag_id in (select id from (:tags_chosen()) c);

-- statement: tags_delete
-- Deletes all of the tags or none: their number must be `count`.
-- index: tags_search
-- takes: organization_id text, tag_ids text[], count bigint
with chosen as (
    select id from tags where organization_id = :organization_id and id = any(:tag_ids::text[])
)
delete from tags
where id in (select id from chosen) and (select count(*) from chosen) = :count::bigint;

-- statement: tag_read
-- The tag of that id.
-- index: tags_pkey
-- takes: id text
-- gives: id text, name text, organization_id text
select id, name, organization_id from tags where id = :id;

-- statement: tag_bind_workspaces
-- Binds the tag to those of the workspaces that are in its organization, and counts them.
-- index: workspaces_name
-- takes: id text, workspace_ids text[], binding_ids text[]
-- gives: found bigint
with may as (
    select w.id
    from tags t
    join workspaces w on w.organization_id = t.organization_id
    where t.id = :id and w.id = any(:workspace_ids::text[]) and w.module_id is null
),
added as (
    insert into tag_bindings (id, tag_id, workspace_id)
    select (:binding_ids::text[])[row_number() over ()], :id, id
    from may
    on conflict (workspace_id, tag_id) do nothing
)
select count(*) as found
from may;
