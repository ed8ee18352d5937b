-- SPDX-License-Identifier: MPL-2.0

-- shape: run_event_shown
-- id text, run_id text, action text, description text, actor_id text null, comment_id text null,
-- created_at timestamptz, organization_id text, workspace_id text

-- fragment: run_events_shown()
select e.*, r.organization_id, r.workspace_id from run_events e join runs r on r.id = e.run_id;

-- statement: run_events_of
-- The run's events, first to last.
-- index: run_events_run
-- takes: run_id text
-- gives: run_event_shown
:run_events_shown() where e.run_id = :run_id order by e.created_at, e.action <> 'created', e.id;

-- statement: run_event_views_of
-- Events by their ids, first to last.
-- index: run_events_pkey, runs_pkey
-- takes: ids text[]
-- gives: run_event_shown
:run_events_shown() where e.id = any(:ids::text[]) order by e.created_at, e.action <> 'created', e.id;

-- statement: run_event_view
-- One event.
-- index: run_events_pkey, runs_pkey
-- takes: id text
-- gives: run_event_shown
:run_events_shown() where e.id = :id;

-- fragment: run_events_insert()
insert into run_events (id, run_id, action, description, actor_id, comment_id);

-- statement: run_event_add
-- Adds an event.
-- takes: id text, run_id text, action text, description text, actor_id text, comment_id text
:run_events_insert() values (:id, :run_id, :action, :description, :actor_id, :comment_id);

-- statement: run_event_add_once
-- The same, unless the run has an event with that action.
-- index: run_events_run
-- takes: like run_event_add
:run_events_insert()
select :id, :run_id, :action, :description, :actor_id, :comment_id
where not exists (select 1 from run_events where run_id = :run_id and action = :action);

-- shape: comment
-- id text, run_id text, body text, created_by text null, created_at timestamptz, organization_id text,
-- workspace_id text

-- fragment: comments()
select c.*, r.organization_id, r.workspace_id from comments c join runs r on r.id = c.run_id;

-- statement: comments_of_run
-- The run's comments, first to last.
-- index: comments_run
-- takes: run_id text
-- gives: comment
:comments() where c.run_id = :run_id order by c.created_at, c.id;

-- statement: comment_views_of
-- Comments by their ids.
-- index: comments_pkey, runs_pkey
-- takes: ids text[]
-- gives: comment
:comments() where c.id = any(:ids::text[]);

-- statement: comment_view
-- One comment.
-- index: comments_pkey, runs_pkey
-- takes: id text
-- gives: comment
:comments() where c.id = :id;

-- statement: comment_write
-- Returns the run's place.
-- index: runs_pkey
-- takes: id text, run_id text, body text, user_id text
-- gives: workspace_id text, organization_id text
with c as (
    insert into comments (id, run_id, body, created_by) values (:id, :run_id, :body, :user_id)
)
select workspace_id, organization_id
from runs
where id = :run_id;
