-- SPDX-License-Identifier: MPL-2.0

-- fragment: varsets_columns()
s.*, o.name as organization_name,
    (
        select coalesce(jsonb_agg(m.workspace_id order by m.workspace_id), '[]')
        from varset_workspaces m
        where m.varset_id = s.id
    ) as workspaces,
    (
        select coalesce(jsonb_agg(m.project_id order by m.project_id), '[]')
        from varset_projects m
        where m.varset_id = s.id
    ) as projects,
    (
        select coalesce(jsonb_agg(m.id order by m.key, m.category), '[]')
        from variables m
        where m.varset_id = s.id
    ) as vars;

-- fragment: varsets_tables()
from varsets s join organizations o on o.id = s.organization_id;

-- shape: varset
-- total bigint optional, id text, organization_id text, project_id text null, name text, description text,
-- global boolean, priority boolean, created_at timestamptz, updated_at timestamptz, organization_name text,
-- workspaces jsonb, projects jsonb, vars jsonb

-- statement: varsets_list
-- takes: organization_id text, search text, project_id text, workspace_id text, limit bigint, offset bigint,
-- all boolean, user text
-- gives: varset
with found as (
    select s.id
    from varsets s
    where s.organization_id = :organization_id
        and (:search::text is null or strpos(lower(s.name), lower(:search)) > 0)
        and (:project_id::text is null or s.global
                or exists (
                    select 1
                    from varset_projects m
                    where m.varset_id = s.id and m.project_id = :project_id
                ) or s.project_id = :project_id)
        and (:workspace_id::text is null or s.global
                or exists (
                    select 1
                    from workspaces w
                    where w.id = :workspace_id and (s.project_id is null or s.project_id = w.project_id)
                        and (exists (
                                select 1
                                from varset_workspaces m
                                where m.varset_id = s.id and m.workspace_id = w.id
                            )
                                or exists (
                                    select 1
                                    from varset_projects m
                                    where m.varset_id = s.id and m.project_id = w.project_id
                                ))
                ))
        and (:all::boolean or s.project_id is null
                or s.project_id in (
                    select tp.project_id
                    from team_members m
                    join team_projects tp on tp.team_id = m.team_id and tp.rights & 67108864 <> 0
                    where m.user_id = :user
                ))
)
select c.total, s.*
from (select count(*) as total from found) c
left join (
    select :varsets_columns() :varsets_tables()
    where s.id in (select id from found)
    order by lower(s.name), s.id
    limit :limit
    offset :offset
) s on true
order by lower(s.name), s.id;

-- statement: varset_read
-- takes: id text
-- gives: varset
select :varsets_columns() :varsets_tables() where s.id = :id;

-- statement: varsets_create
-- takes: id text, organization_id text, project_id text, name text, description text, global boolean,
-- priority boolean
insert into varsets (id, organization_id, project_id, name, description, global, priority)
values (:id, :organization_id, :project_id, :name, :description, :global, :priority);

-- statement: varsets_update
-- takes: id text, name text, description text, global boolean, priority boolean
update varsets
set name = :name, description = :description, global = :global, priority = :priority
where id = :id;

-- statement: varset_delete
-- takes: id text
delete from varsets where id = :id;
