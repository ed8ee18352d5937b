-- SPDX-License-Identifier: MPL-2.0

-- fragment: provider_set_scopes(s, project_id, workspace_id)
-- The scopes by which the set `s` applies there: 1 the organization, 2 the project, 3 the workspace.
select 1 as scope where :s.global
union all
select 2 from provider_set_projects m where m.provider_set_id = :s.id and m.project_id = :project_id
union all
select 3 from provider_set_workspaces m where m.provider_set_id = :s.id and m.workspace_id = :workspace_id;

-- fragment: provider_sets_of_run(w)
-- What the sets give a run of the no-code workspace `w`, the strongest first: one set for each provider. A set with
-- priority is the stronger, the wider its scope; any other, the narrower. Null if there are none. The hosts of the
-- public registries are left out: each engine then uses its own.
(
    select jsonb_agg(
            jsonb_build_object('name', f.name, 'source', f.source, 'configuration', f.configuration_hcl)
            order by f.rank, lower(f.name)
        )
    from (
        select distinct on (x.source) s.name, x.source, s.configuration_hcl, r.rank
        from provider_sets s
        cross join lateral (
            select regexp_replace(lower(s.provider_source), '^registry\.(terraform\.io|opentofu\.org)/', '') as source
        ) x
        cross join lateral (
            select case when s.priority then min(a.scope) else 7 - max(a.scope) end as rank
            from (:provider_set_scopes(s, :w.project_id, :w.id)) a
        ) r
        where s.organization_id = :w.organization_id and r.rank is not null
        order by x.source, r.rank, lower(s.name)
    ) f
);

-- fragment: provider_sets_columns()
-- Columns of a set `s` with its organization `o`.
s.*, o.name as organization_name,
    (
        select coalesce(jsonb_agg(m.workspace_id order by m.workspace_id), '[]')
        from provider_set_workspaces m
        where m.provider_set_id = s.id
    ) as workspaces,
    (
        select coalesce(jsonb_agg(m.project_id order by m.project_id), '[]')
        from provider_set_projects m
        where m.provider_set_id = s.id
    ) as projects;

-- shape: provider_set
-- total bigint optional, id text, organization_id text, name text, description text, provider_source text,
-- configuration_hcl text, global boolean, priority boolean, created_at timestamptz, updated_at timestamptz,
-- organization_name text, workspaces jsonb, projects jsonb

-- statement: provider_sets_list
-- One page of the organization's sets, by name: all, or those that apply to the project, or to the workspace.
-- index: organizations_pkey, provider_sets_name, provider_sets_pkey
-- takes: organization_id text, search text, project_id text, workspace_id text, limit bigint, offset bigint
-- gives: provider_set
with place as (
    select id as workspace_id, project_id from workspaces where id = :workspace_id
    union all
    select null, :project_id where :project_id::text is not null
),
found as (
    select s.id
    from provider_sets s
    where s.organization_id = :organization_id
        and (:search::text is null or strpos(lower(s.name), lower(:search)) > 0)
        and ((:workspace_id::text is null and :project_id::text is null)
                or exists (
                    select 1
                    from place p
                    cross join lateral (:provider_set_scopes(s, p.project_id, p.workspace_id)) a
                ))
)
select c.total, s.*
from (select count(*) as total from found) c
left join (
    select :provider_sets_columns()
    from provider_sets s
    join organizations o on o.id = s.organization_id
    where s.id in (select id from found)
    order by lower(s.name)
    limit :limit
    offset :offset
) s on true
order by lower(s.name);

-- statement: provider_set_read
-- The set of that id, or of that name in the organization.
-- index: organizations_pkey, provider_sets_name, provider_sets_pkey
-- takes: id text, organization_id text, name text
-- gives: provider_set
select :provider_sets_columns()
from provider_sets s
join organizations o on o.id = s.organization_id
where s.id = :id
union all
select :provider_sets_columns()
from provider_sets s
join organizations o on o.id = s.organization_id
where s.organization_id = :organization_id and lower(s.name) = lower(:name);

-- fragment: provider_set_attach(of, into)
-- Attaches those of the ids that are the organization's, and returns their number.
with may as (
    select x.id
    from provider_sets s
    join :of x on x.organization_id = s.organization_id
    where s.id = :id and x.id = any(:ids::text[])
),
done as (insert into :into select :id, id from may on conflict do nothing)
select count(*) as found
from may;

-- shape: provider_set_attached
-- found bigint

-- statement: provider_set_attach_workspaces
-- Applies the set to workspaces.
-- index: provider_sets_pkey
-- takes: id text, ids text[]
-- gives: provider_set_attached
:provider_set_attach(workspaces, {provider_set_workspaces (provider_set_id, workspace_id)});

-- statement: provider_set_attach_projects
-- Applies the set to projects.
-- index: provider_sets_pkey
-- takes: like provider_set_attach_workspaces
-- gives: provider_set_attached
:provider_set_attach(projects, {provider_set_projects (provider_set_id, project_id)});

-- fragment: provider_set_detach(of, member)
-- Detaches the set from the ids, which is a change of the set if there was any of them.
with gone as (delete from :of where provider_set_id = :id and :member = any(:ids::text[]) returning 1)
update provider_sets set updated_at = now() where id = :id and exists (select 1 from gone);

-- statement: provider_set_detach_workspaces
-- Detaches the set from the workspaces.
-- index: provider_set_workspaces_pkey, provider_sets_pkey
-- takes: like provider_set_attach_workspaces
:provider_set_detach(provider_set_workspaces, workspace_id);

-- statement: provider_set_detach_projects
-- Detaches the set from the projects.
-- index: provider_set_projects_pkey, provider_sets_pkey
-- takes: like provider_set_attach_workspaces
:provider_set_detach(provider_set_projects, project_id);

-- statement: provider_set_narrow_workspaces
-- Detaches the set from all other workspaces.
-- index: provider_set_workspaces_pkey
-- takes: like provider_set_attach_workspaces
delete from provider_set_workspaces where provider_set_id = :id and workspace_id <> all(:ids::text[]);

-- statement: provider_set_narrow_projects
-- Detaches the set from all other projects.
-- index: provider_set_projects_pkey
-- takes: like provider_set_attach_workspaces
delete from provider_set_projects where provider_set_id = :id and project_id <> all(:ids::text[]);

-- statement: provider_set_insert
-- Creates a set. No row: the organization has `max` sets. Requests at the same time may create a few more.
-- index: provider_sets_name
-- takes: id text, organization_id text, name text, description text, provider_source text, configuration_hcl text,
-- global boolean, priority boolean, max bigint
-- gives: id text
insert into provider_sets (id, organization_id, name, description, provider_source, configuration_hcl, global, priority)
select :id, :organization_id, :name, :description, :provider_source, :configuration_hcl, :global, :priority
where (select count(*) from provider_sets where organization_id = :organization_id) < :max
returning id;

-- statement: provider_set_update
-- Changes a set.
-- index: provider_sets_pkey
-- takes: id text, name text, description text, provider_source text, configuration_hcl text, global boolean,
-- priority boolean
update provider_sets
set name = :name, description = :description, provider_source = :provider_source,
    configuration_hcl = :configuration_hcl, global = :global, priority = :priority, updated_at = now()
where id = :id;

-- statement: provider_set_touch
-- Sets the time of the set's last change.
-- index: provider_sets_pkey
-- takes: id text
update provider_sets set updated_at = now() where id = :id;

-- statement: provider_sets_delete
-- Deletes those of the sets that are the organization's.
-- index: provider_sets_name
-- takes: organization_id text, ids text[]
-- gives: id text
delete from provider_sets where organization_id = :organization_id and id = any(:ids::text[]) returning id;
