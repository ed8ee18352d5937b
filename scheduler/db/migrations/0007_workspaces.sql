-- SPDX-License-Identifier: MPL-2.0
-- What workspaces and projects have beside their settings: tags, SSH keys, who may read their state, how long their data are
-- kept; and, kept up to date where it changes, what a list of workspaces shows of their runs and states.

create table ssh_keys (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	value_sealed bytea not null,
	created_at timestamptz not null default now()
);
create unique index ssh_keys_name on ssh_keys (organization_id, lower(name));

-- A tag is a key; bound to a workspace or a project it may have a value. Without one it is what clients call a tag name.
create table tags (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null check (length(name) between 1 and 255),
	created_at timestamptz not null default now()
);
create unique index tags_name on tags (organization_id, name);
create index tags_search on tags (organization_id, lower(name));

create table tag_bindings (
	id text primary key,
	position bigint generated always as identity,
	tag_id text not null references tags on delete cascade,
	workspace_id text references workspaces on delete cascade,
	project_id text references projects on delete cascade,
	value text not null default '' check (length(value) <= 256),
	check (num_nonnulls(workspace_id, project_id) = 1)
);
create unique index tag_bindings_workspace on tag_bindings (workspace_id, tag_id);
create unique index tag_bindings_project on tag_bindings (project_id, tag_id);
create index tag_bindings_tag on tag_bindings (tag_id);

-- What holds for a workspace: its own bindings, and those of its project whose key it does not have itself.
create view effective_tags as
	select b.workspace_id, b.id, b.tag_id, b.position, t.name as key, b.value, null::text as inherited_from
	from tag_bindings b join tags t on t.id = b.tag_id where b.workspace_id is not null
	union all
	select w.id, b.id, b.tag_id, b.position, t.name, b.value, b.project_id
	from workspaces w join tag_bindings b on b.project_id = w.project_id join tags t on t.id = b.tag_id
	where not exists (select 1 from tag_bindings o where o.workspace_id = w.id and o.tag_id = b.tag_id);

create table remote_state_consumers (
	workspace_id text not null references workspaces on delete cascade,
	consumer_id text not null references workspaces on delete cascade check (consumer_id <> workspace_id),
	primary key (workspace_id, consumer_id)
);
create index remote_state_consumers_consumer on remote_state_consumers (consumer_id);

-- Without a number of days, nothing is ever deleted.
create table data_retention_policies (
	id text primary key,
	organization_id text unique references organizations on delete cascade,
	workspace_id text unique references workspaces on delete cascade,
	delete_older_than_n_days integer check (delete_older_than_n_days > 0),
	check (num_nonnulls(organization_id, workspace_id) = 1)
);

-- Almost none: organizations that take no tokens of people.
create index organizations_closed on organizations (id) where settings->>'user-tokens-enabled' = 'false';

alter table organizations add column default_pool_id text references agent_pools on delete set null;
alter table projects add column default_pool_id text references agent_pools on delete set null;
update projects set default_pool_id = (select id from agent_pools where id = settings->>'default-agent-pool-id'),
	settings = settings - 'default-agent-pool-id';

alter table workspaces
	add column ssh_key_id text references ssh_keys on delete set null,
	add column resource_count bigint not null default 0,
	add column latest_change_at timestamptz not null default now(),
	add column run_count bigint not null default 0,
	add column run_failures integer not null default 0,
	add column policy_failures integer not null default 0,
	add column plan_milliseconds bigint not null default 0,
	add column apply_milliseconds bigint not null default 0;
update workspaces set settings = settings || '{"project-remote-state": false}'
	where (settings->>'global-remote-state')::boolean and (settings->>'project-remote-state')::boolean;
alter table workspaces add constraint workspaces_shared_once
	check (not ((settings->>'global-remote-state')::boolean and (settings->>'project-remote-state')::boolean));
create index workspaces_ssh_key on workspaces (ssh_key_id) where ssh_key_id is not null;

update workspaces w set latest_change_at = coalesce((select created_at from state_versions where id = w.current_state_id), w.created_at),
	resource_count = coalesce((select sum((r->>'count')::bigint) from state_versions s, jsonb_array_elements(s.resources) r
		where s.id = w.current_state_id and r->>'type' not like 'data.%'), 0),
	run_count = (select count(*) from runs where workspace_id = w.id and ended);

create index workspaces_created on workspaces (organization_id, created_at, id);
create index workspaces_changed on workspaces (organization_id, latest_change_at, id);
