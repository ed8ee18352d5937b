-- SPDX-License-Identifier: MPL-2.0

-- fragment: workspace_task_columns()
id, task_id, workspace_id, enforcement, to_jsonb(stages) as stages, created_at;

-- shape: workspace_task
-- total bigint optional, id text, task_id text, workspace_id text, enforcement text, stages jsonb,
-- created_at timestamptz

-- statement: workspace_tasks_list
-- One page, the oldest first, with the total in each row; one row without a task if the page is empty.
-- index: workspace_tasks_workspace_id_task_id_key
-- takes: workspace_id text, limit bigint, offset bigint
-- gives: workspace_task
select c.total, t.*
from (select count(*) as total from workspace_tasks where workspace_id = :workspace_id) c
left join (
    select :workspace_task_columns()
    from workspace_tasks
    where workspace_id = :workspace_id
    order by created_at, id
    limit :limit
    offset :offset
) t on true
order by t.created_at, t.id;

-- statement: workspace_tasks_of_task
-- The same for a task.
-- index: workspace_tasks_task
-- takes: task_id text, limit bigint, offset bigint
-- gives: workspace_task
select c.total, t.*
from (select count(*) as total from workspace_tasks where task_id = :task_id) c
left join (
    select :workspace_task_columns()
    from workspace_tasks
    where task_id = :task_id
    order by created_at, id
    limit :limit
    offset :offset
) t on true
order by t.created_at, t.id;

-- statement: workspace_tasks_of
-- The attachments of tasks, the oldest first.
-- index: workspace_tasks_task
-- takes: task_ids text[]
-- gives: workspace_task
select :workspace_task_columns()
from workspace_tasks
where task_id = any(:task_ids::text[])
order by created_at, id;

-- statement: workspace_task_read
-- One attachment.
-- index: workspace_tasks_workspace_id_task_id_key
-- takes: workspace_id text, id text
-- gives: workspace_task
select :workspace_task_columns()
from workspace_tasks
where workspace_id = :workspace_id and id = :id;

-- statement: workspace_task_create
-- Attaches a task to a workspace of its organization; adds no row if there is no such task.
-- index: tasks_pkey, workspaces_pkey
-- takes: id text, workspace_id text, task_id text, stages jsonb, enforcement text
insert into workspace_tasks (id, task_id, workspace_id, stages, enforcement)
select :id, t.id, w.id, array(select jsonb_array_elements_text(:stages::jsonb)), :enforcement
from workspaces w
join tasks t on t.organization_id = w.organization_id
where w.id = :workspace_id and t.id = :task_id;

-- statement: workspace_task_update
-- Changes the stages and the enforcement level.
-- index: workspace_tasks_pkey
-- takes: id text, enforcement text, stages jsonb
update workspace_tasks
set enforcement = :enforcement, stages = array(select jsonb_array_elements_text(:stages::jsonb))
where id = :id;

-- statement: workspace_task_delete
-- Detaches the task.
-- index: workspace_tasks_pkey
-- takes: id text
delete from workspace_tasks where id = :id;
