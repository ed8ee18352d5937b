-- SPDX-License-Identifier: MPL-2.0

-- fragment: events()
select e.*, r.organization_id, r.workspace_id from run_events e join runs r on r.id = e.run_id;

-- fragment: run_events_event_columns()
insert into run_events (id, run_id, action, description, actor_id, comment_id);

-- fragment: comments()
select c.*, r.organization_id, r.workspace_id from comments c join runs r on r.id = c.run_id;

-- statement: run_events_events_of_run
-- takes: run_id text
-- gives: id text, run_id text, action text, description text, actor_id text null, comment_id text null,
-- created_at timestamptz, organization_id text, workspace_id text
:events() where e.run_id = :run_id order by e.created_at, e.action <> 'created', e.id;

-- statement: run_event_views_of
-- takes: ids text[]
-- gives: id text, run_id text, action text, description text, actor_id text null, comment_id text null,
-- created_at timestamptz, organization_id text, workspace_id text
:events() where e.id = any(:ids::text[]) order by e.created_at, e.action <> 'created', e.id;

-- statement: run_event_view
-- takes: event_id text
-- gives: id text, run_id text, action text, description text, actor_id text null, comment_id text null,
-- created_at timestamptz, organization_id text, workspace_id text
:events() where e.id = :event_id;

-- statement: run_event_add
-- takes: id text, run_id text, action text, description text, actor_id text, comment_id text
:run_events_event_columns() values (:id, :run_id, :action, :description, :actor_id, :comment_id);

-- statement: run_events_run_event_add_once
-- takes: id text, run_id text, action text, description text, actor_id text, comment_id text
:run_events_event_columns()
select :id, :run_id, :action, :description, :actor_id, :comment_id
where not exists (select 1 from run_events where run_id = :run_id and action = :action);

-- statement: run_events_comments_of_run
-- takes: run_id text
-- gives: id text, run_id text, body text, created_by text null, created_at timestamptz, organization_id text,
-- workspace_id text
:comments() where c.run_id = :run_id order by c.created_at, c.id;

-- shape: comment
-- id text, run_id text, body text, created_by text null, created_at timestamptz, organization_id text,
-- workspace_id text

-- statement: comment_views_of
-- takes: ids text[]
-- gives: comment
:comments() where c.id = any(:ids::text[]);

-- statement: comment_view
-- takes: comment_id text
-- gives: comment
:comments() where c.id = :comment_id;

-- statement: comment_write
-- takes: id text, run_id text, body text, user_id text
-- gives: workspace_id text, organization_id text
with c as (
    insert into comments (id, run_id, body, created_by) values (:id, :run_id, :body, :user_id)
)
select workspace_id, organization_id
from runs
where id = :run_id;
