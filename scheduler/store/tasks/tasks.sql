-- SPDX-License-Identifier: MPL-2.0

-- fragment: task_columns()
-- The columns of the shape task, of a task t in an organization o.
t.*, to_jsonb(t.global_stages) as stages, o.name as organization_name,
    (
        select coalesce(jsonb_agg(wt.id order by wt.created_at, wt.id), '[]')
        from workspace_tasks wt
        where wt.task_id = t.id
    ) as workspace_tasks;

-- shape: task
-- total bigint optional, id text, organization_id text, name text, url text, description text, hmac_sealed
-- bytea null, pool_id text null, enabled boolean, global_enabled boolean, global_stages text,
-- global_enforcement text, created_at timestamptz, updated_at timestamptz, stages jsonb, organization_name
-- text, workspace_tasks jsonb

-- statement: tasks_list
-- One page by name, with the total in each row; one row without a task if the page is empty.
-- index: tasks_name, workspace_tasks_task
-- takes: organization_id text, limit bigint, offset bigint
-- gives: task
select c.total, t.*
from (select count(*) as total from tasks where organization_id = :organization_id) c
left join (
    select :task_columns()
    from tasks t
    join organizations o on o.id = t.organization_id
    where t.organization_id = :organization_id
    order by lower(t.name)
    limit :limit
    offset :offset
) t on true
order by lower(t.name);

-- statement: task_read
-- One task.
-- index: workspace_tasks_task
-- takes: id text
-- gives: task
select :task_columns()
from tasks t
join organizations o on o.id = t.organization_id
where t.id = :id;

-- statement: task_create
-- Creates a task.
-- takes: id text, organization_id text, name text, url text, description text, hmac_sealed bytea,
-- enabled boolean, global_enabled boolean, stages jsonb, global_enforcement text, pool_id text
insert into tasks
    (id, organization_id, name, url, description, hmac_sealed, enabled, global_enabled, global_stages,
        global_enforcement, pool_id)
values (:id, :organization_id, :name, :url, :description, :hmac_sealed, :enabled, :global_enabled,
    array(select jsonb_array_elements_text(:stages::jsonb)), :global_enforcement, :pool_id);

-- statement: task_update
-- Changes the task if nobody else has since `updated_at`. Keeps its key unless `sets_key`.
-- index: tasks_pkey
-- takes: id text, name text, url text, description text, sets_key boolean, hmac_sealed bytea, enabled boolean,
-- global_enabled boolean, stages jsonb, global_enforcement text, pool_id text, updated_at timestamptz
update tasks
set name = :name, url = :url, description = :description,
    hmac_sealed = case when :sets_key then :hmac_sealed::bytea else hmac_sealed end,
    enabled = :enabled, global_enabled = :global_enabled,
    global_stages = array(select jsonb_array_elements_text(:stages::jsonb)),
    global_enforcement = :global_enforcement, pool_id = :pool_id, updated_at = now()
where id = :id and updated_at = :updated_at::timestamptz;

-- statement: task_delete
-- Deletes the task. Its results in runs stay.
-- index: tasks_pkey
-- takes: id text
delete from tasks where id = :id;

-- statement: task_example
-- What a request of the task would say about the newest run of its organization that the requester may read. No row
-- if there is none.
-- index: runs_organization, team_members_user, team_projects_team, team_workspaces_team, teams_organization,
-- workspace_tasks_task
-- takes: id text, user text
-- gives: task_call
select :task_payload_columns()
from (
    select 'taskrs-' || substr(md5(t.id), 1, 16) as id, l.id as run_id,
        coalesce(
            t.global_stages[1],
            (select wt.stages[1] from workspace_tasks wt where wt.task_id = t.id order by wt.created_at limit 1),
            'post_plan'
        ) as stage,
        t.global_enforcement as enforcement
    from tasks t
    cross join lateral (
        select id
        from runs x
        where organization_id = t.organization_id and :run_is_shown(x)
            and :runs_in_scope(
                ((:rights_in_organization(:user, t.organization_id)) & 2 <> 0), :user, workspace_id)
        order by position desc
        limit 1
    ) l
    where t.id = :id
) r, :task_payload_tables()
where :task_payload_joins();
