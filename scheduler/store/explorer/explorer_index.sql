-- SPDX-License-Identifier: MPL-2.0

-- statement: explorer_due_take
-- Takes workspaces that are behind, the longest first. Another scheduler takes them again in five minutes, unless
-- they are done.
-- index: explorer_due_pkey, explorer_due_look
-- takes: max bigint
-- gives: workspace_id text, generation bigint
update explorer_due
set look_at = now() + interval '5 minutes'
where workspace_id = any(array(
        select workspace_id
        from explorer_due
        where look_at <= now()
        order by look_at
        limit :max
        for update skip locked
    ))
returning workspace_id, generation;

-- statement: explorer_due_done
-- The rows show what was there at that generation.
-- index: explorer_due_pkey
-- takes: workspace_id text, generation bigint
delete from explorer_due where workspace_id = :workspace_id and generation = :generation;

-- statement: explorer_source
-- What the rows of a workspace are made of: the current state, and the packages of the last run that ended well, of
-- the last 50. No row: the workspace is deleted.
-- index: operation_blobs_pkey, runs_workspace, state_versions_pkey, workspaces_pkey
-- takes: workspace_id text
-- gives: organization_id text, state_id text null, state_size bigint, packages_id text null
select w.organization_id, s.id as state_id, coalesce(s.size, 0) as state_size, (
        select b.blob_id
        from (select id, status from runs where workspace_id = w.id and not plan_only order by position desc limit 50) r
        join operation_blobs b on b.operation_id = 'plan' || substr(r.id, 4) and b.kind = 'packages'
        where r.status in ('applied', 'planned_and_finished')
        limit 1
    ) as packages_id
from workspaces w
left join state_versions s on s.id = w.current_state_id and s.blob_id is not null
where w.id = :workspace_id;

-- statement: explorer_workspace_lock
-- Locks the workspace's row. No row: the workspace is deleted, or another update is to come.
-- index: explorer_due_pkey, workspaces_pkey
-- takes: workspace_id text, generation bigint
-- gives: workspace_id text
insert into explorer_workspaces (workspace_id)
select w.id
from workspaces w
join explorer_due d on d.workspace_id = w.id and d.generation = :generation
where w.id = :workspace_id
on conflict (workspace_id) do update set updated_at = now()
returning workspace_id;

-- statement: explorer_resources_delete
-- Deletes the resources that the state does not have any more.
-- takes: workspace_id text, addresses text[]
delete from explorer_resources r
where r.workspace_id = :workspace_id
    and not exists (
        select 1 from unnest(:addresses::text[]) u(address) where u.address = r.address
    );

-- statement: explorer_resources_put
-- Inserts new resources, and updates those that differ. A hostile state may name an address twice.
-- takes: workspace_id text, organization_id text, addresses text[], types text[], names text[], modules text[],
-- providers text[], billable boolean[]
insert into explorer_resources as r (
    workspace_id, organization_id, address, type, name, module, provider, is_billable)
select distinct on (u.address) :workspace_id, :organization_id, u.*
from unnest(:addresses::text[], :types::text[], :names::text[], :modules::text[], :providers::text[],
        :billable::boolean[]) u(address, type, name, module, provider, is_billable)
left join explorer_resources o on o.workspace_id = :workspace_id and o.address = u.address
where (o.type, o.name, o.module, o.provider, o.is_billable)
    is distinct from (u.type, u.name, u.module, u.provider, u.is_billable)
order by u.address
on conflict (workspace_id, address) do update set type = excluded.type, name = excluded.name,
    module = excluded.module, provider = excluded.provider, is_billable = excluded.is_billable;

-- statement: explorer_packages_put
-- Replaces the modules and providers, of which there are few.
-- takes: workspace_id text, kinds text[], sources text[], versions text[], names text[], registries text[]
with u as (
    select distinct on (kind, source, version) *
    from unnest(:kinds::text[], :sources::text[], :versions::text[], :names::text[], :registries::text[])
        u(kind, source, version, name, registry)
    order by kind, source, version
),
gone as (
    delete from explorer_packages p
    where p.workspace_id = :workspace_id
        and not exists (
            select 1 from u where u.kind = p.kind and u.source = p.source and u.version = p.version
        )
)
insert into explorer_packages (workspace_id, kind, source, version, name, registry_type)
select :workspace_id, kind, source, version, name, registry
from u
on conflict (workspace_id, kind, source, version) do nothing;

-- fragment: explorer_packages_listed(kind)
-- The number of different packages of the workspace, and their list.
select count(distinct source) as count,
    string_agg(source || case when version = '' then '' else '/' || version end, ', ' order by source, version) as list
from explorer_packages
where workspace_id = :workspace_id and kind = :kind;

-- statement: explorer_workspace_put
-- Completes the workspace's row from its other rows.
-- index: explorer_packages_pkey, explorer_workspaces_pkey
-- takes: workspace_id text, state_id text, is_cut boolean
update explorer_workspaces x
set state_id = :state_id, resources = r.all, rum = r.billable, is_cut = :is_cut, module_count = m.count,
    modules = m.list, provider_count = p.count, providers = p.list
from (
    select count(*) as all, count(*) filter (where is_billable) as billable
    from explorer_resources
    where workspace_id = :workspace_id
) r
cross join (:explorer_packages_listed('module')) m
cross join (:explorer_packages_listed('provider')) p
where x.workspace_id = :workspace_id;
