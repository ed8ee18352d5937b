-- SPDX-License-Identifier: MPL-2.0
-- Change requests: what a workspace should change. A bulk action of the explorer makes one in each of its workspaces, and
-- each is archived by itself.
create table change_requests (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	subject text not null,
	message text not null, -- Markdown
	created_by text references users on delete set null,
	created_at timestamptz not null default now(),
	archived_by text references users on delete set null,
	archived_at timestamptz, -- null: it is open
	updated_at timestamptz not null default now()
);
-- In the order of lists: the open ones come first.
create index change_requests_workspace on change_requests
	(workspace_id, archived_at desc nulls first, created_at desc, id);
create index change_requests_created_by on change_requests (created_by) where created_by is not null;
create index change_requests_archived_by on change_requests (archived_by) where archived_by is not null;

alter table notifications add column change_request_id text references change_requests on delete cascade;
create index notifications_change_request on notifications (change_request_id) where change_request_id is not null;
