-- SPDX-License-Identifier: MPL-2.0
-- Site settings with secrets, limits of tokens, reserved tag keys, tag selectors of policy sets, export of the audit trail.

-- Secrets of the site's settings (admin/smtp-settings and others), by their attribute.
create table site_secrets (
	name text primary key,
	value_sealed bytea not null,
	updated_at timestamptz not null default now()
);

-- Keys of tags with a meaning in all of the organization.
create table reserved_tag_keys (
	id text primary key, -- rtk-
	organization_id text not null references organizations on delete cascade,
	key text not null check (length(key) between 1 and 128),
	disable_overrides boolean not null default false, -- a workspace can't bind a key that its project binds
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index reserved_tag_keys_key on reserved_tag_keys (organization_id, key);

-- The tags of a workspace: its own bindings, and those of its project with other keys. Of a reserved key without
-- overrides, the project's binding counts.
create or replace view effective_tags as
	select b.workspace_id, b.id, b.tag_id, b.position, t.name as key, b.value, null::text as inherited_from
	from tag_bindings b join tags t on t.id = b.tag_id where b.workspace_id is not null
	and not exists (
		select 1 from reserved_tag_keys r
		join workspaces w on w.id = b.workspace_id
		join tag_bindings p on p.project_id = w.project_id and p.tag_id = b.tag_id
		where r.organization_id = t.organization_id and r.key = t.name and r.disable_overrides
	)
	union all
	select w.id, b.id, b.tag_id, b.position, t.name, b.value, b.project_id
	from workspaces w join tag_bindings b on b.project_id = w.project_id join tags t on t.id = b.tag_id
	where b.project_id is not null -- bindings of workspaces are excluded before any project's workspaces are read
	and (
		not exists (select 1 from tag_bindings o where o.workspace_id = w.id and o.tag_id = b.tag_id)
		or exists (
			select 1 from reserved_tag_keys r
			where r.organization_id = t.organization_id and r.key = t.name and r.disable_overrides
		)
	);

-- Tags by which a policy set applies to workspaces, or does not.
create table policy_set_tag_selectors (
	policy_set_id text not null references policy_sets on delete cascade,
	position bigint generated always as identity,
	key text not null,
	value text not null default '', -- '': the tag has no value
	excluded boolean not null default false,
	primary key (policy_set_id, key, value)
);

-- The longest lifetime of an organization's tokens, by their kind, while its setting max-ttl-enabled is on.
create table token_ttl_policies (
	organization_id text not null references organizations on delete cascade,
	token_type text not null
		constraint token_ttl_policies_type check (token_type in ('organization', 'team', 'user', 'audit_trails')),
	max_ttl_ms bigint not null check (max_ttl_ms > 0),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, token_type)
);
create index organizations_limiting on organizations (id) where settings->>'max-ttl-enabled' = 'true';

-- Scoped tokens. A scheduler of the release before does not find them: their digest is another (scheduler/auth/tokens.h).
alter table tokens
	add column read_only boolean not null default false,
	add column workspace_id text references workspaces on delete cascade, -- the only workspace, or null
	add column is_use_noted boolean not null default false; -- the audit trail has its first use
update tokens set is_use_noted = true where last_used_at is not null;
create index tokens_workspace on tokens (workspace_id) where workspace_id is not null;
create index tokens_unused on tokens (coalesce(last_used_at, created_at)) where pool_id is null and not notifier;

-- Collectors to which the audit trail is exported (scheduler/background/audit/). The schedulers' options name them.
create table audit_sinks (
	name text primary key, -- syslog, kafka
	holder text, -- the scheduler that sends, until lease_until
	lease_until timestamptz not null default '-infinity',
	sent_at timestamptz,
	error text not null default '', -- of the last attempt
	created_at timestamptz not null default now()
);

-- Events that a collector lacks. The trigger, and not a statement of the schedulers, writes them: also schedulers of the
-- release before do not leave out any.
create table audit_unsent (
	sink text not null,
	position bigint not null,
	event_id text not null,
	primary key (sink, position)
);
create function audit_event_unsent() returns trigger language plpgsql as $$
begin
	insert into audit_unsent (sink, position, event_id) select s.name, n.position, n.id from added n cross join audit_sinks s;
	return null;
end $$;
create trigger audit_events_unsent after insert on audit_events referencing new table as added
	for each statement execute function audit_event_unsent();

-- For filters of the trail.
create index audit_events_actor on audit_events (actor_id, at, position) where actor_id is not null;
create index audit_events_resource on audit_events (resource_id, at, position) where resource_id is not null;
