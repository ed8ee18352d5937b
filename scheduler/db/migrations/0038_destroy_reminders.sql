-- SPDX-License-Identifier: MPL-2.0
-- Reminders of workspaces that are to be destroyed automatically: a day and half a day before, and none twice. A workspace is looked at
-- at each of those times, too.
alter table workspaces add column destroy_reminded timestamptz;

-- What is to be told of a workspace itself, and the time that it is about.
alter table notifications add column workspace_id text references workspaces on delete cascade;
alter table notifications add column due_at timestamptz;
create index notifications_workspace on notifications (workspace_id) where workspace_id is not null;

create function workspace_destroy_next(due timestamptz) returns timestamptz language sql stable as $$
	select min(x) from unnest(array[due - interval '24 hours', due - interval '12 hours', due]) x where x > now() or x = due
$$;
-- One whose reminder is due is looked at at once.
create or replace function workspace_destroy_check(settings jsonb, project text) returns timestamptz language sql stable as $$
	select case when settings->>'auto-destroy-at' is not null
			then least((settings->>'auto-destroy-at')::timestamptz,
				greatest(now(), (settings->>'auto-destroy-at')::timestamptz - interval '24 hours'))
		when coalesce((settings->>'inherits-project-auto-destroy')::boolean, true)
			then (select now() from projects p where p.id = project and p.settings->>'auto-destroy-activity-duration' is not null)
		when settings->>'auto-destroy-activity-duration' is not null then now() end
$$;
update workspaces set destroy_check_at = workspace_destroy_next(destroy_check_at) where destroy_check_at > now();
