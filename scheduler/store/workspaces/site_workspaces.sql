-- SPDX-License-Identifier: MPL-2.0

-- shape: site_workspace
-- total bigint, id text, name text, organization_name text, is_locked boolean, run_id text null,
-- identifier text null, place bigint

-- statement: site_workspaces_list
-- One page of the workspaces of all organizations. Without a sort order, those with the newest runs come first.
-- index: organizations_pkey, runs_pkey, workspaces_pkey
-- reads: workspaces
-- takes: id text, search text, statuses text, sort text, limit bigint, offset bigint
-- gives: site_workspace
with found as (
    select w.id, row_number() over (
        order by case when :sort::text = 'name' then lower(w.name) end collate "C", case
            when :sort = '-name' then lower(w.name) end collate "C" desc, case
            when :sort = 'latest-change-at' then w.latest_change_at end, case
            when :sort = '-latest-change-at' then w.latest_change_at end desc, case
            when :sort = 'current-run.created-at' then r.position end, r.position desc nulls last, w.id) as place
    from workspaces w
    join organizations o on o.id = w.organization_id
    left join runs r on r.id = coalesce(w.current_run_id, w.latest_run_id)
    where w.module_id is null and (:id::text is null or w.id = :id)
        and (
            :search::text is null
            or strpos(lower(w.name), lower(:search)) > 0
            or strpos(lower(o.name), lower(:search)) > 0
        )
        and (:statuses::text is null or r.status = any(string_to_array(:statuses, ',')))
)
select n.total, f.*
from (select count(*) as total from found) n
left join (
    select w.id, w.name, o.name as organization_name, w.locked_by is not null as is_locked,
        coalesce(w.current_run_id, w.latest_run_id) as run_id,
        (
            select v.identifier
            from workspace_repositories u
            join vcs_repositories v on v.id = u.repository_id
            where u.workspace_id = w.id
        ) as identifier, x.place
    from found x
    join workspaces w on w.id = x.id
    join organizations o on o.id = w.organization_id
    order by x.place
    limit :limit
    offset :offset
) f on true
order by f.place;

-- statement: site_workspaces_count
-- Numbers of all workspaces by the status of their current run; null is those without one.
-- index: runs_pkey
-- reads: workspaces
-- gives: status text null, workspaces bigint
select r.status, count(*) as workspaces
from workspaces w
left join runs r on r.id = coalesce(w.current_run_id, w.latest_run_id)
where w.module_id is null
group by r.status
order by r.status;
