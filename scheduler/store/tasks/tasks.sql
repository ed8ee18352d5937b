-- SPDX-License-Identifier: MPL-2.0

-- fragment: tasks_columns()
t.*, to_jsonb(t.global_stages) as stages, o.name as organization_name,
    (
        select coalesce(jsonb_agg(wt.id order by wt.created_at, wt.id), '[]')
        from workspace_tasks wt
        where wt.task_id = t.id
    ) as workspace_tasks;

-- shape: task
-- total bigint optional, id text, organization_id text, name text, url text, description text,
-- hmac_sealed bytea null, enabled boolean, global_enabled boolean, global_stages text, global_enforcement text,
-- created_at timestamptz, updated_at timestamptz, stages jsonb, organization_name text, workspace_tasks jsonb

-- statement: tasks_list
-- takes: organization_id text, limit bigint, offset bigint
-- gives: task
select c.total, t.*
from (select count(*) as total from tasks where organization_id = :organization_id) c
left join (
    select :tasks_columns()
    from tasks t
    join organizations o on o.id = t.organization_id
    where t.organization_id = :organization_id
    order by lower(t.name)
    limit :limit
    offset :offset
) t on true
order by lower(t.name);

-- statement: task_read
-- takes: id text
-- gives: task
select :tasks_columns()
from tasks t
join organizations o on o.id = t.organization_id
where t.id = :id;

-- statement: task_create
-- takes: id text, organization_id text, name text, url text, description text, hmac_sealed bytea,
-- enabled boolean, global_enabled boolean, p9 jsonb, global_enforcement text
insert into tasks (
    id, organization_id, name, url, description, hmac_sealed, enabled, global_enabled, global_stages,
        global_enforcement)
values (:id, :organization_id, :name, :url, :description, :hmac_sealed, :enabled, :global_enabled,
        array(select jsonb_array_elements_text(:p9::jsonb)), :global_enforcement);

-- statement: task_update
-- takes: id text, name text, url text, description text, p5 boolean, p6 bytea, enabled boolean,
-- global_enabled boolean, p9 jsonb, global_enforcement text, updated_at timestamptz
update tasks
set name = :name, url = :url, description = :description, hmac_sealed = case when :p5 then :p6::bytea
    else hmac_sealed end, enabled = :enabled, global_enabled = :global_enabled,
    global_stages = array(select jsonb_array_elements_text(:p9::jsonb)),
    global_enforcement = :global_enforcement, updated_at = now()
where id = :id and updated_at = :updated_at::timestamptz;

-- statement: task_delete
-- takes: id text
delete from tasks where id = :id;

-- statement: task_example
-- takes: id text, user text
-- gives: id text, run_id text, stage text, enforcement text, plan_only boolean, run_created_at text,
-- message text, configuration_version_id text, working_directory text, workspace_id text, workspace text,
-- organization text, username text null, project_id text, project text, commit_sha text, commit_url text,
-- pull_request_url text, commit_branch text, repository_branch text, default_branch text null,
-- repository_url text null, repository text, provider text, provider_url text, provider_api_url text
select :task_payload_columns()
from (
    select 'taskrs-' || substr(md5(t.id), 1, 16) as id, l.id as run_id,
        coalesce(t.global_stages[1],
                (
                    select wt.stages[1]
                    from workspace_tasks wt
                    where wt.task_id = t.id
                    order by wt.created_at
                    limit 1
                ), 'post_plan') as stage, t.global_enforcement as enforcement
    from tasks t
    cross join lateral (
        select id
        from runs
        where organization_id = t.organization_id
            and :runs_in_scope(
                ((:rights_in_organization(:user, t.organization_id)) & 2 <> 0), :user, workspace_id)
        order by position desc
        limit 1
    ) l
    where t.id = :id
) r, :task_payload_tables()
where :task_payload_joins();
