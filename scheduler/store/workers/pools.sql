-- SPDX-License-Identifier: MPL-2.0

-- fragment: pool_label(o, p)
-- The name of pool `p` for operators: with its organization `o`, unless it is the shared one.
(coalesce(:o.name || '/', '') || :p.name);

-- fragment: pools_columns(user)
-- Columns of a pool with pools_tables. Of its workspaces and projects those that the requester sees.
p.*, coalesce((select runs from run_quotas q where q.pool_id = p.id), 0) as run_limit,
    o.name as organization_name,
    (select count(*) from workers k where k.pool_id = p.id and not :agent_gone(k)) as agent_count,
    (
        select coalesce(jsonb_agg(m.id order by m.id), '[]')
        from workspaces m
        where m.pool_id = p.id and m.module_id is null
            and :workspace_in_scope(
                ((:rights_in_organization(:user, p.organization_id)) & 1 <> 0), :user, m.id)
    ) as workspaces,
    (
        select coalesce(jsonb_agg(m.workspace_id order by m.workspace_id), '[]')
        from agent_pool_workspaces m
        where m.pool_id = p.id and not m.excluded
            and :workspace_in_scope(
                ((:rights_in_organization(:user, p.organization_id)) & 1 <> 0), :user, m.workspace_id)
    ) as allowed_workspaces,
    (
        select coalesce(jsonb_agg(m.workspace_id order by m.workspace_id), '[]')
        from agent_pool_workspaces m
        where m.pool_id = p.id and m.excluded
            and :workspace_in_scope(
                ((:rights_in_organization(:user, p.organization_id)) & 1 <> 0), :user, m.workspace_id)
    ) as excluded_workspaces,
    (
        select coalesce(jsonb_agg(m.project_id order by m.project_id), '[]')
        from agent_pool_projects m
        where m.pool_id = p.id
            and :project_in_scope(
                ((:rights_in_organization(:user, p.organization_id)) & 1048576 <> 0), :user, m.project_id)
    ) as allowed_projects;

-- fragment: pools_tables()
-- Pools with their organizations; the shared pool has none.
from agent_pools p left join organizations o on o.id = p.organization_id;

-- fragment: pools_may_use(workspace, project)
-- Whether the pool p is available to that workspace of that project.
((p.organization_scoped
            or exists (
                select 1
                from agent_pool_workspaces m
                where m.pool_id = p.id and m.workspace_id = :workspace and not m.excluded
            )
            or exists (
                select 1 from agent_pool_projects m where m.pool_id = p.id and m.project_id = :project
            ))
        and not exists (
            select 1
            from agent_pool_workspaces m
            where m.pool_id = p.id and m.workspace_id = :workspace and m.excluded
        ));

-- shape: pool
-- total bigint optional, place bigint optional, id text, organization_id text null, name text,
-- organization_scoped boolean, created_at timestamptz, drained_at timestamptz null, run_limit integer,
-- organization_name text null, agent_count bigint, workspaces jsonb, allowed_workspaces jsonb,
-- excluded_workspaces jsonb, allowed_projects jsonb

-- statement: pools_list
-- One page of the organization's pools in the order that `sort` names: all, or those that are available to a
-- workspace or a project that the requester sees.
-- index: agent_pools_organization, projects_name, run_quotas_pool_id_key, team_members_user,
-- team_projects_team, team_workspaces_team
-- takes: organization_id text, search text, sort text, workspace_id text, workspace_name text, project_id text,
-- project_name text, limit bigint, offset bigint, user text, all_workspaces boolean, all_projects boolean
-- gives: pool
with found as (
    select p.id, row_number() over (
        order by case when :sort::text = 'created-at' then p.created_at end, case
            when :sort = '-created-at' then p.created_at end desc, case
            when :sort = '-name' then lower(p.name) end desc, lower(p.name), p.id) as place
    from agent_pools p
    where p.organization_id = :organization_id
        and (:search::text is null or strpos(lower(p.name), lower(:search)) > 0)
        and (:workspace_id::text is null and :workspace_name::text is null
                or exists (
                    select 1
                    from workspaces w
                    where w.organization_id = :organization_id and w.module_id is null
                        and (:workspace_id is null or w.id = :workspace_id)
                        and (:workspace_name is null or lower(w.name) = lower(:workspace_name))
                        and :workspace_in_scope(:all_workspaces, :user, w.id)
                        and :pools_may_use(w.id, w.project_id)
                ))
        and (:project_id::text is null and :project_name::text is null
                or exists (
                    select 1
                    from projects j
                    where j.organization_id = :organization_id
                        and (:project_id is null or j.id = :project_id)
                        and (:project_name is null or lower(j.name) = lower(:project_name))
                        and :project_in_scope(:all_projects, :user, j.id) and :pools_may_use(null, j.id)
                ))
),
page as (
    select * from found order by place limit :limit offset :offset
),
shown as (select f.place, :pools_columns(:user) :pools_tables() join page f on f.id = p.id)
select c.total, p.*
from (select count(*) as total from found) c
left join shown p on true
order by p.place;

-- statement: pool_read
-- The pool of that id.
-- index: run_quotas_pool_id_key, team_members_user, team_projects_team, team_workspaces_team,
-- teams_organization, workers_pool
-- takes: id text, user text
-- gives: pool
select :pools_columns(:user) :pools_tables() where p.id = :id;

-- statement: pools_read_all
-- Pools by their ids.
-- index: run_quotas_pool_id_key, team_members_user, team_projects_team, team_workspaces_team,
-- teams_organization, workers_pool
-- takes: ids text[], user text
-- gives: pool
select :pools_columns(:user) :pools_tables() where p.id = any(:ids::text[]);

-- statement: pool_find
-- The pool of that id, or of that name: ORGANIZATION/NAME, or NAME of the shared one; in any case.
-- index: organizations_pkey
-- reads: agent_pools
-- takes: name text
-- gives: id text, organization_id text null
select p.id, p.organization_id
from agent_pools p
left join organizations o on o.id = p.organization_id
where p.id = :name or lower(:pool_label(o, p)) = lower(:name);

-- statement: pools_shared
-- The pool that all organizations share.
-- index: run_quotas_pool_id_key, team_members_user, team_projects_team, team_workspaces_team,
-- teams_organization, workers_pool
-- reads: agent_pools
-- takes: user text
-- gives: pool
select :pools_columns(:user) :pools_tables() where p.organization_id is null;

-- fragment: pool_replace(of, deletion, into)
-- Replaces the related ids by those that are in the organization, and returns the number of these.
with may as (
    select x.id
    from agent_pools p
    join :of x on x.organization_id = p.organization_id
    where p.id = :id and x.id = any(:ids::text[])
),
gone as (delete from :deletion),
done as (insert into :into)
select count(*) as found
from may;

-- fragment: pool_replace_workspaces(excluded)
-- Replaces the workspaces that may use the pool, or those that may not.
:pool_replace(workspaces,
    {agent_pool_workspaces where pool_id = :id and excluded = :excluded and not (workspace_id = any(:ids))},
    {agent_pool_workspaces (pool_id, workspace_id, excluded) select :id, id, :excluded from may
        on conflict (pool_id, workspace_id) do update set excluded = :excluded});

-- shape: pool_related
-- found bigint

-- statement: pool_allow_workspaces
-- Replaces the workspaces that may use the pool, and counts them.
-- index: workspaces_name
-- takes: id text, ids text[]
-- gives: pool_related
:pool_replace_workspaces(false);

-- statement: pool_exclude_workspaces
-- Replaces the workspaces that may not use the pool, and counts them.
-- index: workspaces_name
-- takes: like pool_allow_workspaces
-- gives: pool_related
:pool_replace_workspaces(true);

-- statement: pool_allow_projects
-- Replaces the projects that may use the pool, and counts them.
-- index: projects_name
-- takes: like pool_allow_workspaces
-- gives: pool_related
:pool_replace(projects, {agent_pool_projects where pool_id = :id and not (project_id = any(:ids))},
    {agent_pool_projects (pool_id, project_id) select :id, id from may on conflict do nothing});

-- statement: pool_insert
-- Creates a pool.
-- takes: id text, organization_id text, name text, organization_scoped boolean
insert into agent_pools (id, organization_id, name, organization_scoped)
values (:id, :organization_id, :name, :organization_scoped);

-- statement: pool_update
-- Changes a pool.
-- index: agent_pools_pkey
-- takes: id text, name text, organization_scoped boolean
update agent_pools set name = :name, organization_scoped = :organization_scoped where id = :id;

-- statement: pool_lock
-- Locks the pool. Every new user of the pool takes a share lock on it, by a foreign key or by pool_use.
-- index: agent_pools_pkey
-- takes: id text
select 1 from agent_pools where id = :id for update;

-- statement: pool_users
-- What uses the pool, so that it can't be deleted.
-- index: projects_name, runs_live, tasks_pool, vcs_connections_fork_pool, vcs_connections_pool,
-- vcs_installations_fork_pool, vcs_installations_pool
-- takes: id text
-- gives: is_shared boolean, workspaces boolean, connections boolean, installations boolean, defaults boolean,
-- tasks boolean, runs boolean
select exists (select 1 from agent_pools where id = :id and organization_id is null) as is_shared,
    exists (select 1 from workspaces where pool_id = :id) as workspaces,
    exists (select 1 from vcs_connections where pool_id = :id or fork_pool_id = :id) as connections,
    exists (select 1 from vcs_installations where pool_id = :id or fork_pool_id = :id) as installations,
    exists (
        select 1
        from agent_pools p
        join organizations o on o.id = p.organization_id
        left join projects j on j.organization_id = o.id
        where p.id = :id and :id in (o.default_pool_id, j.default_pool_id)
    ) as defaults,
    exists (select 1 from tasks where pool_id = :id) as tasks,
    exists (
        select 1
        from agent_pools p
        join runs r on r.organization_id = p.organization_id and not r.ended
        join run_inputs i on i.run_id = r.id
        where p.id = :id and i.pool_id = :id
    ) as runs;

-- statement: pool_inputs_clear
-- Takes the pool away from runs that have ended.
-- index: run_inputs_pool
-- takes: id text
update run_inputs set pool_id = null where pool_id = :id;

-- statement: pool_delete
-- Deletes the pool.
-- index: agent_pools_pkey
-- takes: id text
delete from agent_pools where id = :id;

-- statement: pool_use
-- Whether the organization's pool is available there. Locks the pool against its deletion.
-- index: agent_pool_workspaces_workspace, agent_pools_organization, projects_default
-- takes: pool_id text, organization_id text, project_id text, workspace_id text, anywhere boolean,
-- any_scope boolean
-- gives: may boolean
select case when :any_scope::boolean then true when :anywhere::boolean then p.organization_scoped
    else :pools_may_use(:workspace_id,
            coalesce(:project_id, (select project_id from workspaces where id = :workspace_id),
                    (select id from projects where organization_id = :organization_id and is_default)))
    end as may
from agent_pools p
where p.id = :pool_id and p.organization_id = :organization_id
for key share of p;
