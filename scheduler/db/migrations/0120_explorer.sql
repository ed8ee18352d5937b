-- SPDX-License-Identifier: MPL-2.0
-- The explorer: what the states and the configurations of workspaces contain, in rows that lists can search. A
-- scheduler writes them after the commit of a state or a run (store/explorer/explorer_index.c), and only what differs.

create extension if not exists pg_trgm; -- finds a part of an address among millions

-- Workspaces whose rows are behind. Triggers add them; the writer of a state never waits for an update of the rows.
create table explorer_due (
	workspace_id text primary key references workspaces on delete cascade,
	generation bigint not null default 1, -- counts what came since: an update that began before does not delete the row
	look_at timestamptz not null default now()
) with (fillfactor = 50);
create index explorer_due_look on explorer_due (look_at);

-- What is known of a workspace. No row: nothing yet.
create table explorer_workspaces (
	workspace_id text primary key references workspaces on delete cascade,
	state_id text, -- whose resources the rows show; null: none
	resources bigint not null default 0, -- rows of explorer_resources
	rum bigint not null default 0, -- of these, the billable ones
	is_cut boolean not null default false, -- the state has more resources, modules or providers than there are rows
	module_count bigint not null default 0,
	modules text,
	provider_count bigint not null default 0,
	providers text,
	updated_at timestamptz not null default now()
);

-- One row for each instance of a managed resource. Texts are compared by bytes: addresses are no language.
create table explorer_resources (
	workspace_id text not null references workspaces on delete cascade,
	organization_id text not null,
	address text collate "C" not null,
	type text collate "C" not null,
	name text collate "C" not null,
	module text collate "C" not null,
	provider text collate "C" not null,
	is_billable boolean not null,
	primary key (workspace_id, address)
);
create index explorer_resources_address on explorer_resources (organization_id, address, workspace_id);
create index explorer_resources_type on explorer_resources (organization_id, type, workspace_id);
create index explorer_resources_name on explorer_resources (organization_id, name, workspace_id);
create index explorer_resources_module on explorer_resources (organization_id, module, workspace_id);
create index explorer_resources_provider on explorer_resources (organization_id, provider, workspace_id);
create index explorer_resources_billable on explorer_resources (organization_id, is_billable, workspace_id);
create index explorer_resources_text on explorer_resources using gin (address gin_trgm_ops);

-- Modules that a configuration calls, and providers that it or the state uses. No version: '' (a module of the
-- configuration itself; a provider that only the state names).
create table explorer_packages (
	workspace_id text not null references workspaces on delete cascade,
	kind text not null constraint explorer_packages_kind check (kind in ('module', 'provider')),
	source text not null,
	version text not null,
	name text not null,
	registry_type text, -- public, private; null: from no registry
	primary key (workspace_id, kind, source, version)
);

-- Queries that people saved.
create table explorer_views (
	id text primary key, -- sq-
	organization_id text not null references organizations on delete cascade,
	name text not null,
	query_type text not null,
	query jsonb not null,
	created_by text references users on delete set null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index explorer_views_name on explorer_views (organization_id, lower(name));
create index explorer_views_creator on explorer_views (created_by) where created_by is not null;

-- A text that sorts as a semantic version does: numbers are padded, a release comes after its prereleases. Null for any
-- other text. Compare it by bytes.
create function explorer_version_key(version text) returns text language sql immutable parallel safe as $$
	select lpad(split_part(m[1], '.', 1), 12, '0') || lpad(split_part(m[1], '.', 2), 12, '0') ||
		lpad(split_part(m[1], '.', 3), 12, '0') || case when m[2] is null then '~' else (
			select string_agg(case when n ~ '^[0-9]+$' then '0' || lpad(n, 12, '0') else '1' || n end, ' ' order by place)
			from regexp_split_to_table(m[2], '\.') with ordinality x(n, place)
		) end
	from regexp_match(version, '^v?([0-9]{1,12}(?:\.[0-9]{1,12}){0,2})(?:-([0-9A-Za-z.-]{1,100}))?(?:\+[0-9A-Za-z.-]*)?$') m
$$;

-- All workspaces are behind at first. Triggers mark them, so that schedulers of an earlier version do, too: a state may
-- get another content under its id, and a run that has ended may have changed the packages of a configuration.
insert into explorer_due (workspace_id) select id from workspaces;
create function explorer_mark(workspace text) returns void language sql as $$
	insert into explorer_due as d (workspace_id) values (workspace)
		on conflict (workspace_id) do update set generation = d.generation + 1, look_at = least(d.look_at, now())
$$;
create function explorer_state_set() returns trigger language plpgsql as $$
begin
	perform explorer_mark(new.id);
	return null;
end $$;
create function explorer_run_ended() returns trigger language plpgsql as $$
begin
	perform explorer_mark(new.workspace_id);
	return null;
end $$;
create trigger workspaces_explored after update of current_state_id on workspaces for each row
	execute function explorer_state_set();
create trigger runs_explored after update of status on runs for each row
	when (new.status in ('applied', 'planned_and_finished') and old.status <> new.status and not new.plan_only)
	execute function explorer_run_ended();
