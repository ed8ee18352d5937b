-- SPDX-License-Identifier: MPL-2.0
-- The database's first version. Ids have the API's form, such as run-x. Columns named *_sealed hold AES-256-GCM bytes
-- that are bound to their row by a context (common/crypto.h). Tables with the column `one` or `is_only` have one row.
-- A fillfactor leaves room on the page, so that an update of unindexed columns writes no index (heap-only tuples).

-- ---- The installation ----

-- The id that all schedulers of this installation send in each answer: workers and notifiers accept no other answers
-- (common/http/origin.h). It is no secret.
create table installation (
	one boolean primary key default true check (one),
	id text not null
);
insert into installation (id) values ('inst-' || substr(md5(gen_random_uuid()::text), 1, 16));

-- Settings that site admins make for the whole installation.
create table site_settings (
	one boolean primary key default true check (one),
	settings jsonb not null default '{}'
);
insert into site_settings default values;

-- The keys that schedulers have had (--keys). The check value is derived from the key, so that another key with the same
-- number is refused at the start.
create table sealing_keys (
	number bigint primary key,
	check_value text not null,
	created_at timestamptz not null default now()
);

-- The history of the database that the schedulers saw last: `<system identifier>/<timeline>`. A promotion and a restore
-- begin another one. An epoch begins where commits of the old history may have been lost.
create table database_history (
	one boolean primary key default true check (one),
	history text,
	epoch bigint not null default 1,
	epoch_at timestamptz, -- when the epoch began; null: it is the first
	durable boolean not null default false -- commits waited for a synchronous standby when a scheduler looked last
);
insert into database_history default values;

-- How many steps of this server's clock the schedulers have seen. Of several that see a step, one corrects the rows.
create table clock_steps (
	one boolean primary key default true check (one),
	count bigint not null default 0
);
insert into clock_steps default values;

-- Versions of engines and policy programs that site admins list. Unlisted versions may be used, too.
create table tool_versions (
	id text primary key,
	tool text not null check (tool in ('terraform', 'opa', 'sentinel')),
	version text not null,
	archs jsonb not null, -- [{"os", "arch", "url", "sha"}, ...]
	official boolean not null default false,
	enabled boolean not null default true,
	beta boolean not null default false,
	deprecated boolean not null default false,
	deprecated_reason text,
	created_at timestamptz not null default now()
);
create unique index tool_versions_version on tool_versions (tool, version);

-- ---- Content ----
-- Rows of other tables name blobs. A blob whose last name goes is deleted by the blob collector (store/content/blob_gc.c).

-- The sealed bytes are here, or are the object of that key. Logs are sealed in pieces that can be read one at a time.
create table blobs (
	id text primary key,
	size bigint not null,
	bytes_sealed bytea,
	object_key text,
	created_at timestamptz not null default now(),
	constraint blobs_somewhere check (num_nonnulls(bytes_sealed, object_key) = 1)
);
alter table blobs alter column bytes_sealed set storage external;
-- Large blobs are moved to the object store first.
create index blobs_here on blobs (size) where object_key is null;

-- Blobs that some row has stopped naming: the blob collector looks at these alone.
create table loose_blobs (
	blob_id text primary key,
	of_policy boolean not null default false,
	look_at timestamptz not null default now()
);
create index loose_blobs_look on loose_blobs (look_at);

create function blob_dereferenced() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id) values (old.blob_id) on conflict do nothing;
	return null;
end $$;
create function json_blob_dereferenced() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id) values (old.json_blob_id) on conflict do nothing;
	return null;
end $$;
create function log_blob_dereferenced() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id) values (old.log_blob) on conflict do nothing;
	return null;
end $$;
-- Bundles of evaluations that have not started name the policies' blobs, so these are looked at a day later.
create function policy_blob_dereferenced() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id, of_policy, look_at) values (old.blob_id, true, now() + interval '1 day')
		on conflict (blob_id) do update set of_policy = true, look_at = excluded.look_at;
	return null;
end $$;

-- Objects to delete at a time, which may not exist. Each object is listed here before it is written, and until a blob
-- names it.
create table object_removals (
	key text primary key,
	blob_id text,
	size bigint not null,
	due_at timestamptz not null
);
create index object_removals_due on object_removals (due_at);
-- One upload of a blob to the object store at a time. The next one waits until a failed one was cleaned up.
create unique index object_removals_blob on object_removals (blob_id) where blob_id is not null;

-- Readers that have just looked up the object's key may fetch it for another minute.
create function blob_leaves_object() returns trigger language plpgsql as $$
begin
	insert into object_removals (key, size, due_at) values (old.object_key, old.size, now() + interval '1 minute')
		on conflict (key) do nothing;
	return null;
end $$;
create trigger blobs_object after delete on blobs for each row when (old.object_key is not null)
	execute function blob_leaves_object();

-- Number and size of the objects in the object store, counted as they are written and removed.
create table object_usage (
	one boolean primary key default true check (one),
	objects bigint not null default 0,
	bytes bigint not null default 0
);
insert into object_usage default values;

-- The position of each retention rule in the rows that it reads in order. A rule applies to everything without a policy
-- (scope site), or to everything whose policy names that number of days (scope policy, and the number is `setting`).
create table retention_marks (
	rule text not null,
	scope text not null check (scope in ('site', 'policy')),
	setting bigint not null,
	at timestamptz not null default '-infinity',
	id text not null default '',
	primary key (rule, scope, setting)
);

-- ---- Organizations ----

create table organizations (
	id text primary key,
	name text not null,
	email text not null,
	settings jsonb not null default '{}', -- named as in the API
	default_pool_id text,
	is_disabled boolean not null default false, -- by a site admin: only site admins see it, its rows stay
	admin_settings jsonb not null default '{}',
	created_at timestamptz not null default now()
);
create unique index organizations_name on organizations (lower(name));
-- Organizations that accept no tokens of people: almost none.
create index organizations_closed on organizations (id) where settings->>'user-tokens-enabled' = 'false';
create index organizations_default_pool on organizations (default_pool_id) where default_pool_id is not null;

-- Organizations that may use the modules of another one.
create table module_consumers (
	organization_id text not null references organizations on delete cascade,
	consumer_id text not null references organizations on delete cascade,
	primary key (organization_id, consumer_id)
);
create index module_consumers_consumer on module_consumers (consumer_id);

-- ---- Pools and workers ----

-- A pool without an organization serves all of them; exactly one such pool exists.
create table agent_pools (
	id text primary key,
	organization_id text references organizations on delete cascade,
	name text not null,
	organization_scoped boolean not null default true,
	created_at timestamptz not null default now()
);
create unique index agent_pools_name on agent_pools (coalesce(organization_id, ''), lower(name));
create index agent_pools_organization on agent_pools (organization_id) where organization_id is not null;
alter table organizations add foreign key (default_pool_id) references agent_pools on delete set null;

-- A worker authenticates with its own token, so that it can finish its jobs after its agent token was revoked.
create table workers (
	id text primary key,
	pool_id text not null references agent_pools on delete cascade,
	name text not null,
	version text not null default '',
	address text not null default '',
	slots integer not null,
	free integer not null,
	draining boolean not null default false,
	partitions integer[] not null default '{}',
	seen_at timestamptz not null default now(),
	token_hash text,
	left_at timestamptz,
	failed boolean not null default false,
	token_id text, -- the agent token that it registered with
	token_description text, -- as it was then: it is still shown after the token is revoked
	capabilities jsonb, -- engines and programs that it can run (proto/capabilities.h)
	created_at timestamptz not null default now()
) with (fillfactor = 50);
create index workers_pool on workers (pool_id);
create unique index workers_token on workers (token_hash);

-- ---- Users, teams, tokens ----
-- Columns named `rights` are sets of the bits of rights/permissions.def, computed when a team or an access is written.

-- An invited user has no name until they register. A service account belongs to a team, and the team's tokens act as it.
create table users (
	id text primary key,
	username text,
	email text,
	is_site_admin boolean not null default false,
	is_service_account boolean not null default false,
	password_hash text, -- crypt(3): yescrypt; null: no sign-in with a password
	email_confirmed boolean not null default true, -- false once a person has changed the address: they see no invitations to it
	is_suspended boolean not null default false, -- tokens, sessions and sign-in are refused; the rows stay
	created_at timestamptz not null default now()
);
create unique index users_username on users (lower(username));
create unique index users_invited on users (lower(email)) where username is null;
create index users_by_email on users (lower(email));

-- An invitation is a membership of a user without a name, until the person accepts it.
create table organization_memberships (
	organization_id text not null references organizations on delete cascade,
	user_id text not null references users on delete cascade,
	id text not null,
	status text not null default 'active' check (status in ('active', 'invited')),
	email text, -- the address as the organization wrote it, until the invitation is accepted
	created_at timestamptz not null default now(),
	primary key (organization_id, user_id)
);
create index organization_memberships_user on organization_memberships (user_id);
create unique index organization_memberships_id on organization_memberships (id);

-- The kinds organization and audit have no members: the organization's tokens act as them.
create table teams (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	user_id text not null unique references users,
	name text not null,
	kind text not null default 'team' check (kind in ('owners', 'team', 'organization', 'audit')),
	visibility text not null default 'secret' check (visibility in ('secret', 'organization')),
	organization_access jsonb not null default '{}',
	sso_team_id text,
	allow_member_token_management boolean not null default true,
	rights bigint not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	unique (id, organization_id)
);
create unique index teams_name on teams (organization_id, lower(name)) where kind in ('owners', 'team');
create unique index teams_kind on teams (organization_id, kind) where kind <> 'team';
create index teams_organization on teams (organization_id);

-- Accepting an invitation replaces the user without a name, in teams too (on update cascade).
create table team_members (
	team_id text not null,
	organization_id text not null,
	user_id text not null,
	primary key (team_id, user_id),
	foreign key (team_id, organization_id) references teams (id, organization_id) on delete cascade,
	foreign key (organization_id, user_id) references organization_memberships on update cascade on delete cascade
);
create index team_members_user on team_members (user_id, organization_id);

-- A token is stored as its SHA-256 only. It belongs to a user, a pool or the notifiers. A team has one token without a
-- description, and any number with different ones.
create table tokens (
	id text primary key,
	hash text not null unique,
	user_id text references users on delete cascade,
	pool_id text references agent_pools on delete cascade,
	description text default '',
	last_used_at timestamptz,
	expired_at timestamptz,
	notifier boolean not null default false,
	team_id text references teams on delete cascade,
	created_by text references users on delete set null,
	created_at timestamptz not null default now(),
	constraint tokens_owner check (num_nonnulls(user_id, pool_id) + notifier::int = 1)
);
create unique index tokens_team_single on tokens (team_id) where description is null;
create unique index tokens_team_description on tokens (team_id, description) where team_id is not null;
create index tokens_user on tokens (user_id, created_at desc);
create index tokens_pool on tokens (pool_id) where pool_id is not null;

-- A browser that signed in. Its cookie is stored as its SHA-256 only.
create table sessions (
	hash text primary key,
	user_id text not null references users on delete cascade,
	address text not null,
	last_seen_at timestamptz not null default now(),
	created_at timestamptz not null default now()
);
create index sessions_user on sessions (user_id);

-- Codes that an approved `terraform login` exchanges for a token, once.
create table oauth_codes (
	hash text primary key,
	user_id text not null references users on delete cascade,
	challenge text not null,
	redirect_uri text not null,
	created_at timestamptz not null default now()
);

-- ---- Projects and workspaces ----

create table projects (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	description text not null default '',
	is_default boolean not null default false,
	settings jsonb not null default '{}', -- named as in the API
	default_pool_id text references agent_pools on delete set null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index projects_name on projects (organization_id, lower(name));
create unique index projects_default on projects (organization_id) where is_default;
create index projects_default_pool on projects (default_pool_id) where default_pool_id is not null;

create table ssh_keys (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	value_sealed bytea not null,
	created_at timestamptz not null default now()
);
create unique index ssh_keys_name on ssh_keys (organization_id, lower(name));

-- What the list shows of runs and states is stored here, and written with the change. has_queue: a run waits for its
-- turn, or did so until lately. stands_still: it has a queue and nothing holds it up, so the reaper must start a run.
create table workspaces (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	pool_id text references agent_pools on delete set null,
	name text not null,
	description text,
	auto_apply boolean not null default false,
	execution_mode text not null default 'remote',
	terraform_version text not null default '',
	working_directory text not null default '',
	structured_run_output boolean not null default true,
	settings jsonb not null default '{}', -- named as in the API
	locked_by text references users on delete set null,
	locked_reason text,
	current_run_id text,
	latest_run_id text,
	current_state_id text,
	current_configuration_id text,
	project_id text not null references projects,
	ssh_key_id text references ssh_keys on delete set null,
	resource_count bigint not null default 0,
	latest_change_at timestamptz not null default now(),
	run_count bigint not null default 0,
	run_failures integer not null default 0,
	policy_failures integer not null default 0,
	plan_milliseconds bigint not null default 0,
	apply_milliseconds bigint not null default 0,
	hold_job_id text, -- the job of its hold (workspace_holds)
	has_queue boolean not null default false,
	stands_still boolean not null
		generated always as (has_queue and current_run_id is null and locked_by is null and hold_job_id is null) stored,
	destroy_check_at timestamptz, -- when background/auto_destroy.c looks at it next; null: never
	destroy_reminded timestamptz, -- the automatic destruction that reminders were sent for
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	constraint workspaces_shared_once
		check (not ((settings->>'global-remote-state')::boolean and (settings->>'project-remote-state')::boolean))
) with (fillfactor = 80);
create index workspaces_project on workspaces (project_id);
create index workspaces_ssh_key on workspaces (ssh_key_id) where ssh_key_id is not null;
create index workspaces_created on workspaces (organization_id, created_at, id);
create index workspaces_changed on workspaces (organization_id, latest_change_at, id);
create index workspaces_pool on workspaces (pool_id) where pool_id is not null;
-- Pages far from both ends of the list are reached in the index alone.
create unique index workspaces_name on workspaces (organization_id, lower(name)) include (name, id);
create index workspaces_standing on workspaces (id) where stands_still;
create index workspaces_destroy_check on workspaces (destroy_check_at) where destroy_check_at is not null;
create index workspaces_terraform_version on workspaces (terraform_version) where terraform_version <> '';

-- Facts about the last 30 runs of a workspace, the newest first. The next run replaces them without reading those runs.
create table workspace_last_runs (
	workspace_id text primary key references workspaces on delete cascade,
	plans bigint[] not null,
	applies bigint[] not null,
	failed boolean[] not null,
	policies_failed boolean[] not null
) with (fillfactor = 50);

-- Each transaction that leaves a run queued sets has_queue at its commit. The condition on the run is a scalar query, not
-- EXISTS: a plan made while nothing is queued would otherwise read the index of queued runs from end to end.
create function run_queued() returns trigger language plpgsql as $$
begin
	update workspaces set has_queue = true where id = new.workspace_id and not has_queue
		and (select queued from runs where id = new.id);
	return null;
end $$;
-- The run that starts may have been the last of the queue, which it has left by now.
create function queue_advanced() returns trigger language plpgsql as $$
begin
	new.has_queue := exists (select 1 from runs where workspace_id = new.id and queued and not plan_only);
	return new;
end $$;
create trigger workspaces_queue before update of current_run_id on workspaces for each row
	when (new.has_queue and new.current_run_id is distinct from old.current_run_id and new.current_run_id is not null)
	execute function queue_advanced();

-- Automatic destruction. A fixed time is checked at that time, and at its reminders a day and half a day before. A
-- duration is checked at once, and again at the earliest time at which it can be over: activity only delays that time.
create function workspace_destroy_next(due timestamptz) returns timestamptz language sql stable as $$
	select min(x) from unnest(array[due - interval '24 hours', due - interval '12 hours', due]) x where x > now() or x = due
$$;
create function workspace_destroy_check(settings jsonb, project text) returns timestamptz language sql stable as $$
	select case when settings->>'auto-destroy-at' is not null
			then least((settings->>'auto-destroy-at')::timestamptz,
				greatest(now(), (settings->>'auto-destroy-at')::timestamptz - interval '24 hours'))
		when coalesce((settings->>'inherits-project-auto-destroy')::boolean, true)
			then (select now() from projects p where p.id = project and p.settings->>'auto-destroy-activity-duration' is not null)
		when settings->>'auto-destroy-activity-duration' is not null then now() end
$$;
create function workspace_destroy_set() returns trigger language plpgsql as $$
begin
	new.destroy_check_at := workspace_destroy_check(new.settings, new.project_id);
	return new;
end $$;
create trigger workspaces_destroy_created before insert on workspaces for each row execute function workspace_destroy_set();
create trigger workspaces_destroy_changed before update of settings, project_id on workspaces for each row
	when (old.settings is distinct from new.settings or old.project_id is distinct from new.project_id)
	execute function workspace_destroy_set();
create function project_destroy_set() returns trigger language plpgsql as $$
begin
	update workspaces w set destroy_check_at = workspace_destroy_check(w.settings, w.project_id) where w.project_id = new.id;
	return null;
end $$;
create trigger projects_destroy_changed after update of settings on projects for each row
	when (old.settings->>'auto-destroy-activity-duration' is distinct from new.settings->>'auto-destroy-activity-duration')
	execute function project_destroy_set();

-- Numbers of workspaces, so that a page of a list need not count them. No row: none.
create table organization_totals (
	organization_id text primary key references organizations on delete cascade,
	workspaces bigint not null
) with (fillfactor = 50);

create table project_totals (
	project_id text primary key references projects on delete cascade,
	workspaces bigint not null
) with (fillfactor = 50);

-- The organization's row is always locked before the projects' in their order, so that transactions can't deadlock.
create function workspaces_inserted() returns trigger language plpgsql as $$
begin
	insert into organization_totals as t (organization_id, workspaces)
		select organization_id, count(*) from inserted group by 1 order by 1
		on conflict (organization_id) do update set workspaces = t.workspaces + excluded.workspaces;
	insert into project_totals as t (project_id, workspaces)
		select project_id, count(*) from inserted group by 1 order by 1
		on conflict (project_id) do update set workspaces = t.workspaces + excluded.workspaces;
	return null;
end $$;
-- With an organization, its total is deleted already.
create function workspaces_deleted() returns trigger language plpgsql as $$
declare
	total record;
begin
	for total in select organization_id as id, count(*) as n from deleted group by 1 order by 1 loop
		update organization_totals set workspaces = workspaces - total.n where organization_id = total.id;
	end loop;
	for total in select project_id as id, count(*) as n from deleted group by 1 order by 1 loop
		update project_totals set workspaces = workspaces - total.n where project_id = total.id;
	end loop;
	return null;
end $$;
-- By row: almost no update of a workspace moves it.
create function workspace_moved() returns trigger language plpgsql as $$
declare
	total record;
begin
	for total in select * from (values (old.project_id, -1), (new.project_id, 1)) v (id, n) order by 1 loop
		insert into project_totals as t (project_id, workspaces) values (total.id, total.n)
			on conflict (project_id) do update set workspaces = t.workspaces + excluded.workspaces;
	end loop;
	return null;
end $$;
create trigger workspaces_inserted after insert on workspaces referencing new table as inserted
	for each statement execute function workspaces_inserted();
create trigger workspaces_deleted after delete on workspaces referencing old table as deleted
	for each statement execute function workspaces_deleted();
create trigger workspace_moved after update of project_id on workspaces for each row
	when (old.project_id is distinct from new.project_id) execute function workspace_moved();

-- A tag is a key. Bound to a workspace or a project it may have a value; without one, clients call it a tag name.
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

-- The tags of a workspace: its own bindings, and those of its project with other keys.
create view effective_tags as
	select b.workspace_id, b.id, b.tag_id, b.position, t.name as key, b.value, null::text as inherited_from
	from tag_bindings b join tags t on t.id = b.tag_id where b.workspace_id is not null
	union all
	select w.id, b.id, b.tag_id, b.position, t.name, b.value, b.project_id
	from workspaces w join tag_bindings b on b.project_id = w.project_id join tags t on t.id = b.tag_id
	where b.project_id is not null -- bindings of workspaces are excluded before any project's workspaces are read
	and not exists (select 1 from tag_bindings o where o.workspace_id = w.id and o.tag_id = b.tag_id);

-- Workspaces that may read the state of another one.
create table remote_state_consumers (
	workspace_id text not null references workspaces on delete cascade,
	consumer_id text not null references workspaces on delete cascade,
	primary key (workspace_id, consumer_id),
	check (consumer_id <> workspace_id)
);
create index remote_state_consumers_consumer on remote_state_consumers (consumer_id);

-- A workspace gets a run when a run of its source was applied.
create table run_triggers (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	source_id text not null references workspaces on delete cascade,
	created_at timestamptz not null default now(),
	check (workspace_id <> source_id)
);
create unique index run_triggers_pair on run_triggers (workspace_id, source_id);
create index run_triggers_source on run_triggers (source_id);

create table data_retention_policies (
	id text primary key,
	organization_id text unique references organizations on delete cascade,
	workspace_id text unique references workspaces on delete cascade,
	delete_older_than_n_days integer check (delete_older_than_n_days > 0), -- null: nothing is ever deleted
	check (num_nonnulls(organization_id, workspace_id) = 1)
);

-- The policy of a workspace: its own, else the organization's.
create view workspace_retention as
	select w.id as workspace_id, w.organization_id, coalesce(o.id, g.id) as policy_id,
		case when o.id is not null then o.delete_older_than_n_days else g.delete_older_than_n_days end as days
	from workspaces w left join data_retention_policies o on o.workspace_id = w.id
	left join data_retention_policies g on g.organization_id = w.organization_id;

-- The access that teams were given to projects and workspaces.
create table team_projects (
	id text primary key,
	team_id text not null references teams on delete cascade,
	project_id text not null references projects on delete cascade,
	access text not null,
	project_detail jsonb not null,
	workspace_detail jsonb not null,
	rights bigint not null,
	created_at timestamptz not null default now(),
	constraint team_projects_team unique (team_id, project_id)
);
create index team_projects_project on team_projects (project_id);

create table team_workspaces (
	id text primary key,
	team_id text not null references teams on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	access text not null,
	detail jsonb not null,
	rights bigint not null,
	created_at timestamptz not null default now(),
	constraint team_workspaces_team unique (team_id, workspace_id)
);
create index team_workspaces_workspace on team_workspaces (workspace_id);

-- Projects and workspaces that may use a pool which is not for all. An excluded workspace may not use it in any case.
create table agent_pool_projects (
	pool_id text not null references agent_pools on delete cascade,
	project_id text not null references projects on delete cascade,
	primary key (pool_id, project_id)
);
create index agent_pool_projects_project on agent_pool_projects (project_id);

create table agent_pool_workspaces (
	pool_id text not null references agent_pools on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	excluded boolean not null,
	primary key (pool_id, workspace_id)
);
create index agent_pool_workspaces_workspace on agent_pool_workspaces (workspace_id);

-- ---- Variables ----

-- A variable set holds variables as a workspace does.
create table varsets (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	project_id text references projects on delete cascade, -- its owner; null: the organization
	name text not null check (name <> ''),
	description text not null default '',
	global boolean not null default false,
	priority boolean not null default false,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	check (not (global and project_id is not null))
);
create unique index varsets_name on varsets (organization_id, coalesce(project_id, ''), lower(name));
create index varsets_project on varsets (project_id) where project_id is not null;

create table varset_projects (
	varset_id text not null references varsets on delete cascade,
	project_id text not null references projects on delete cascade,
	primary key (varset_id, project_id)
);
create index varset_projects_project on varset_projects (project_id);

create table varset_workspaces (
	varset_id text not null references varsets on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	primary key (varset_id, workspace_id)
);
create index varset_workspaces_workspace on varset_workspaces (workspace_id);

create table variables (
	id text primary key,
	workspace_id text references workspaces on delete cascade,
	key text not null,
	value_sealed bytea not null,
	description text,
	category text not null,
	hcl boolean not null default false,
	sensitive boolean not null default false,
	version_id text not null,
	varset_id text references varsets on delete cascade,
	created_at timestamptz not null default now(),
	check (num_nonnulls(workspace_id, varset_id) = 1)
);
create unique index variables_key on variables (workspace_id, category, key);
create unique index variables_varset_key on variables (varset_id, category, key);

-- ---- Configurations and states ----

create table configuration_versions (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	status text not null default 'pending' constraint configuration_versions_status
		check (status in ('pending', 'fetching', 'uploaded', 'archived', 'errored',
			'backing_data_soft_deleted', 'backing_data_permanently_deleted')),
	source text not null default 'tfe-api',
	auto_queue_runs boolean not null default true,
	speculative boolean not null default false,
	provisional boolean not null default false,
	blob_id text references blobs,
	error text,
	error_message text,
	status_timestamps jsonb not null default '{}',
	created_by text references users on delete set null,
	hidden_at timestamptz, -- when its content was soft-deleted
	created_at timestamptz not null default now()
);
create index configuration_versions_workspace on configuration_versions (workspace_id, created_at desc);
create index configuration_versions_blob on configuration_versions (blob_id) where blob_id is not null;
create index configuration_versions_age on configuration_versions (created_at, id);
create index configuration_versions_kept on configuration_versions (workspace_id, created_at) where status = 'uploaded';
create index configuration_versions_hidden on configuration_versions (hidden_at) where status = 'backing_data_soft_deleted';
create trigger configuration_versions_blob_changed after update of blob_id on configuration_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function blob_dereferenced();
create trigger configuration_versions_deleted after delete on configuration_versions for each row
	when (old.blob_id is not null) execute function blob_dereferenced();

-- detached: the state arrived too late to become the current one. It has its own row, beside the one of
-- its job's last state.
create table state_versions (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	run_id text,
	job_id text,
	serial bigint not null,
	lineage text not null,
	md5 text not null,
	size bigint not null,
	status text not null default 'finalized' constraint state_versions_status
		check (status in ('pending', 'finalized', 'discarded', 'detached',
			'backing_data_soft_deleted', 'backing_data_permanently_deleted')),
	intermediate boolean not null default false,
	recovered boolean not null default false,
	terraform_version text,
	resources jsonb not null default '[]',
	blob_id text references blobs,
	created_by text references users on delete set null,
	json_blob_id text references blobs, -- the state in terraform's JSON form, if its writer sent it
	rollback_id text references state_versions on delete set null, -- the state version that it repeats
	hidden_at timestamptz, -- when its content was soft-deleted
	was_detached boolean not null default false, -- a hidden one was detached, and becomes so again when it is restored
	created_at timestamptz not null default now()
) with (fillfactor = 80);
create index state_versions_workspace on state_versions (workspace_id, created_at desc);
create index state_versions_run on state_versions (run_id);
create index state_versions_rollback on state_versions (rollback_id) where rollback_id is not null;
create index state_versions_blob on state_versions (blob_id) where blob_id is not null;
create index state_versions_json_blob on state_versions (json_blob_id) where json_blob_id is not null;
create unique index state_versions_job on state_versions (job_id, (status = 'detached')) where job_id is not null;
create index state_versions_detached on state_versions (workspace_id) where status = 'detached';
create index state_versions_age on state_versions (created_at, id) where status = 'finalized';
create index state_versions_kept on state_versions (workspace_id, created_at) where status = 'finalized';
create index state_versions_hidden on state_versions (hidden_at) where status = 'backing_data_soft_deleted';
create trigger state_versions_blob_changed after update of blob_id on state_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function blob_dereferenced();
create trigger state_versions_deleted after delete on state_versions for each row
	when (old.blob_id is not null) execute function blob_dereferenced();
create trigger state_versions_json_blob_changed after update of json_blob_id on state_versions for each row
	when (old.json_blob_id is not null and old.json_blob_id is distinct from new.json_blob_id)
	execute function json_blob_dereferenced();
create trigger state_versions_json_deleted after delete on state_versions for each row
	when (old.json_blob_id is not null) execute function json_blob_dereferenced();

create table state_version_outputs (
	id text primary key,
	state_version_id text not null references state_versions on delete cascade,
	name text not null,
	sensitive boolean not null,
	type text not null,
	detailed_type jsonb not null,
	value_sealed bytea not null
);
create index state_version_outputs_state on state_version_outputs (state_version_id, name);

-- During an apply, the worker sends its states as differences to one whole state, the base. The state version's blob is
-- then the base, as a sealed zstd frame (store/states/state_bases.h), and this row has the newest state as a difference to
-- it. Without a row the blob is the state as it came.
create table state_bases (
	state_version_id text primary key references state_versions on delete cascade,
	blob_id text not null,
	digest text not null, -- SHA-256 of the base, in hex
	difference_sealed bytea, -- null: the newest state is the base
	look_at timestamptz not null default now()
) with (fillfactor = 50);
alter table state_bases alter column difference_sealed set storage external;
create index state_bases_blob on state_bases (blob_id);

-- A state version that gets another blob, or loses its own, has no base any more.
create function state_base_gone() returns trigger language plpgsql as $$
begin
	delete from state_bases where state_version_id = old.id and blob_id = old.blob_id;
	return null;
end $$;
create trigger state_versions_base after update of blob_id on state_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function state_base_gone();

-- ---- Runs ----
-- Foreign keys to rows that many runs share (organization, pool, actor) are left out: each insert would lock the shared
-- row, and transactions would wait for each other. Actors are never deleted, and pool_delete clears pool_id.

-- The run's state for the lifecycle. Each transition writes the row, so it is narrow, and no index has the status. The
-- parameters that it was created with are in run_inputs.
create table runs (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	organization_id text not null,
	position bigint generated always as identity,
	status text not null,
	stage text not null,
	stages integer not null, -- bits of the stages that it has
	plan_only boolean not null,
	save_plan boolean not null,
	auto_apply boolean not null,
	allow_empty_apply boolean not null,
	has_changes boolean not null default false,
	underway boolean not null default false,
	queued boolean not null default true,
	stopping smallint not null default 0, -- 0: no, 1: cancel, 2: force-cancel
	holds boolean not null default false, -- it is the workspace's active run
	ended boolean not null default false,
	status_timestamps jsonb not null default '{}',
	canceled_at timestamptz,
	force_cancel_available_at timestamptz,
	saved boolean not null generated always as (status = 'planned_and_saved') stored,
	ended_at timestamptz generated always as (case when ended then updated_at end) stored,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
) with (fillfactor = 60);
-- One active run per workspace, enforced here in any case.
create unique index runs_active on runs (workspace_id) where holds;
create index runs_organization on runs (organization_id, position desc);
create index runs_queue on runs (workspace_id, position) where queued;
create index runs_saved on runs (workspace_id) where saved;
create index runs_ended on runs (ended_at, id) where ended_at is not null;
create index runs_live on runs (organization_id, position) where not ended;
create index runs_workspace on runs (workspace_id, position desc) include (plan_only);
create index runs_position on runs (position desc);

create constraint trigger runs_created_queued after insert on runs deferrable initially deferred for each row
	when (new.queued and not new.plan_only) execute function run_queued();
create constraint trigger runs_queued_again after update of queued on runs deferrable initially deferred for each row
	when (new.queued and not old.queued and not new.plan_only) execute function run_queued();

create table run_inputs (
	run_id text primary key references runs on delete cascade,
	configuration_version_id text not null references configuration_versions,
	pool_id text,
	message text not null,
	source text not null,
	trigger_reason text not null default 'manual',
	is_destroy boolean not null default false,
	refresh boolean not null default true,
	refresh_only boolean not null default false,
	allow_config_generation boolean not null default false,
	json_log boolean not null default true,
	target_addrs jsonb,
	replace_addrs jsonb,
	terraform_version text not null,
	working_directory text not null,
	variables_sealed bytea,
	snapshot_sealed bytea not null,
	error text,
	created_by text,
	confirmed_by text,
	canceled_by text,
	policy_paths jsonb not null default '[]',
	invoke_action_addrs jsonb not null default '[]',
	debugging_mode boolean not null default false
);
create index run_inputs_configuration on run_inputs (configuration_version_id);
create index run_inputs_pool on run_inputs (pool_id) where pool_id is not null;

-- A run's plan and its apply: plan-x and apply-x of run-x.
create table operations (
	id text primary key,
	run_id text not null references runs on delete cascade,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	additions integer,
	changes integer,
	destructions integer,
	imports integer,
	terraform_version text,
	worker_id text,
	worker_name text,
	log_length bigint not null default 0,
	log_ended boolean not null default false,
	base_state_id text,
	generated_configuration boolean not null default false, -- the plan has configuration that terraform wrote for imports
	log_blob text references blobs,
	log_deleted_at timestamptz,
	plan_deleted_at timestamptz,
	upload_hash text, -- of the token of the plan's attempt: a plan's JSON and schemas may arrive after its result
	engine text not null default '' -- terraform or tofu; '' until it is chosen
) with (fillfactor = 60);
create index operations_run on operations (run_id);
create index operations_log_blob on operations (log_blob) where log_blob is not null;
create trigger operations_log_changed after update of log_blob on operations for each row
	when (old.log_blob is not null and old.log_blob is distinct from new.log_blob) execute function log_blob_dereferenced();
create trigger operations_deleted after delete on operations for each row
	when (old.log_blob is not null) execute function log_blob_dereferenced();

-- Content that a plan produced, one row each.
create table operation_blobs (
	operation_id text not null references operations on delete cascade,
	kind text not null, -- plan, json, init, schemas
	blob_id text not null references blobs,
	primary key (operation_id, kind)
);
create index operation_blobs_blob on operation_blobs (blob_id);
create trigger operation_blobs_changed after update of blob_id on operation_blobs for each row
	when (old.blob_id is distinct from new.blob_id) execute function blob_dereferenced();
create trigger operation_blobs_deleted after delete on operation_blobs for each row execute function blob_dereferenced();

-- The log while it grows. A complete log becomes a blob.
create table log_chunks (
	operation_id text not null references operations on delete cascade,
	start bigint not null,
	length integer not null,
	bytes_sealed bytea not null,
	primary key (operation_id, start)
);

create table run_events (
	id text primary key,
	run_id text not null references runs on delete cascade,
	action text not null,
	description text not null default '',
	actor_id text,
	comment_id text,
	created_at timestamptz not null default now()
);
create index run_events_run on run_events (run_id, created_at) include (id);

create table comments (
	id text primary key,
	run_id text not null references runs on delete cascade,
	body text not null,
	created_by text references users on delete set null,
	created_at timestamptz not null default now()
);
create index comments_run on comments (run_id);

-- An export is made from the plan's JSON when it is downloaded. The row says who may still do that.
create table plan_exports (
	id text primary key,
	run_id text not null references runs on delete cascade,
	data_type text not null check (data_type in ('sentinel-mock-bundle-v0')),
	created_by text references users on delete set null,
	expires_at timestamptz not null,
	created_at timestamptz not null default now()
);
create index plan_exports_run on plan_exports (run_id);

-- The monthly cost of a plan, created with the run where cost estimation is on. The worker sends the numbers, and a
-- document with those of each resource.
create table cost_estimates (
	id text primary key,
	run_id text not null unique references runs on delete cascade,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	prior_monthly_cost numeric,
	proposed_monthly_cost numeric,
	delta_monthly_cost numeric,
	currency text,
	resources_count integer not null default 0,
	matched_resources_count integer not null default 0,
	unmatched_resources_count integer not null default 0,
	document jsonb,
	error_message text,
	created_at timestamptz not null default now()
);

-- Runs that an applied run must still start in the targets of its workspace's run triggers. The transaction that applies
-- the run inserts the rows; runs/triggers.c creates each run and deletes its row.
create table pending_run_triggers (
	run_id text not null references runs on delete cascade, -- the applied run
	workspace_id text not null, -- the target; no foreign key: the apply would wait for, or fail with, the target's deletion
	tries integer not null default 0,
	error text, -- of the last try
	next_at timestamptz not null default now(), -- of the next try
	primary key (run_id, workspace_id)
);
create index pending_run_triggers_next on pending_run_triggers (next_at);

-- ---- Jobs ----

-- Jobs that wait or run. The row is deleted when its attempt ends. There are no foreign keys except the run's, which
-- locks no shared row. A heartbeat writes no index: none has the lease.
create table jobs (
	id text primary key,
	run_id text not null unique references runs on delete cascade,
	workspace_id text not null,
	organization_id text not null,
	pool_id text not null,
	stage text not null,
	class smallint not null,
	attempt integer not null default 1,
	state text not null default 'waiting',
	started boolean not null default false,
	stop smallint not null default 0, -- 0: no, 1: cancel, 2: force-cancel
	worker_id text,
	token_hash text, -- of the attempt
	log_base bigint not null default 0, -- where the attempt's log begins in the operation's
	lease_until timestamptz,
	announced_at timestamptz not null default now(),
	run_token_hash text, -- of the token of the job's programs, valid as long as the attempt
	lost_with text[] not null default '{}', -- names of workers that attempts of the job were lost with
	deadline timestamptz, -- of an apply; null: its worker names no limit
	needs text not null default '', -- capabilities (proto/capabilities.h)
	created_at timestamptz not null default now()
) with (fillfactor = 60);
create index jobs_waiting on jobs (pool_id, class, organization_id, created_at, id) where state = 'waiting';
create unique index jobs_run_token on jobs (run_token_hash) where run_token_hash is not null;
create index jobs_stopping on jobs (worker_id) where stop > 0;
-- `like`: only statements that want all claimed jobs say it so. With `=`, a plan made while nothing runs would read all of
-- this index to find one job.
create index jobs_claimed on jobs (pool_id, organization_id) where state like 'claimed';

-- Applies that ended before their last state had arrived (lifecycle/hold.h). The token stays valid for that state as long
-- as the run exists, since a worker may come back later. Rows of ended holds stay.
create table workspace_holds (
	job_id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	run_id text not null references runs on delete cascade,
	worker text not null,
	token_hash text not null,
	began_at timestamptz not null default now(),
	until timestamptz, -- the apply's deadline; 'infinity': it has none; null: the hold has ended
	settled_at timestamptz, -- no state is awaited any more: only unrecorded resources hold the workspace
	compared_at timestamptz, -- when the reports of the apply were compared with its last state
	attempt integer,
	worker_id text,
	stop smallint not null default 0,
	engine_ended boolean not null default false, -- the attempt sent its result: only a state is awaited
	alerted_at timestamptz -- when the log said that the hold lasts long
);
create index workspace_holds_workspace on workspace_holds (workspace_id);
create index workspace_holds_run on workspace_holds (run_id);
create index workspace_holds_until on workspace_holds (until) where until is not null;
create index workspace_holds_compared on workspace_holds (job_id) where compared_at is null;
create index workspace_holds_stops on workspace_holds (job_id) where stop > 0 and until is not null;

-- Resources that the engine of an apply reported as created, changed or destroyed and that its last state does not show.
-- Open ones keep their workspace held.
create table unrecorded_resources (
	id text primary key,
	run_id text not null references runs on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	job_id text not null,
	digest text not null, -- of the job, the action, the address and the resource's id
	action text not null check (action in ('create', 'update', 'delete')),
	address text not null,
	type text not null,
	provider text not null,
	resource_id_sealed bytea not null,
	dismissed_at timestamptz,
	dismissed_by text,
	created_at timestamptz not null default now(),
	unique (job_id, digest)
);
create index unrecorded_resources_run on unrecorded_resources (run_id);
create index unrecorded_resources_workspace on unrecorded_resources (workspace_id);

-- ---- Policies ----

create table policies (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	kind text not null,
	description text not null default '',
	query text,
	enforcement text not null,
	blob_id text references blobs,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index policies_name on policies (organization_id, lower(name));
create index policies_blob on policies (blob_id) where blob_id is not null;
create trigger policies_blob_changed after update of blob_id on policies for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function policy_blob_dereferenced();
create trigger policies_deleted after delete on policies for each row
	when (old.blob_id is not null) execute function policy_blob_dereferenced();

create table policy_sets (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	description text not null default '',
	kind text not null,
	global boolean not null default false,
	overridable boolean not null default false,
	agent_enabled boolean not null default false,
	policy_tool_version text,
	policies_path text,
	current_version_id text,
	newest_version_id text,
	settings jsonb not null default '{}',
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index policy_sets_name on policy_sets (organization_id, lower(name));

create table policy_set_policies (
	policy_set_id text not null references policy_sets on delete cascade,
	policy_id text not null references policies on delete cascade,
	primary key (policy_set_id, policy_id)
);
create index policy_set_policies_policy on policy_set_policies (policy_id);

create table policy_set_projects (
	policy_set_id text not null references policy_sets on delete cascade,
	project_id text not null references projects on delete cascade,
	excluded boolean not null default false,
	primary key (policy_set_id, project_id)
);
create index policy_set_projects_project on policy_set_projects (project_id);

create table policy_set_workspaces (
	policy_set_id text not null references policy_sets on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	excluded boolean not null default false,
	primary key (policy_set_id, workspace_id)
);
create index policy_set_workspaces_workspace on policy_set_workspaces (workspace_id);

-- A set's policies as an archive: a folder with policies.hcl (OPA, HCP's form) or sentinel.hcl, or only .rego and .sentinel
-- files.
create table policy_set_versions (
	id text primary key,
	policy_set_id text not null references policy_sets on delete cascade,
	status text not null default 'pending',
	source text not null default 'tfe-api',
	error text,
	blob_id text references blobs,
	status_timestamps jsonb not null default '{}',
	error_message text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create index policy_set_versions_set on policy_set_versions (policy_set_id, created_at desc);
create index policy_set_versions_blob on policy_set_versions (blob_id) where blob_id is not null;
create trigger policy_set_versions_blob_changed after update of blob_id on policy_set_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function policy_blob_dereferenced();
create trigger policy_set_versions_deleted after delete on policy_set_versions for each row
	when (old.blob_id is not null) execute function policy_blob_dereferenced();

create table policy_set_parameters (
	id text primary key,
	policy_set_id text not null references policy_sets on delete cascade,
	key text not null,
	value_sealed bytea not null,
	sensitive boolean not null default false,
	created_at timestamptz not null default now(),
	unique (policy_set_id, key)
);

-- One evaluation per run and kind, created with the run. `bundle` is what is evaluated, as it was then: an array of sets,
-- each {id, name, description, overridable, version_blob, parameters_sealed (base64),
-- policies: [{id, name, query, enforcement, blob}]}.
create table policy_evaluations (
	id text primary key,
	run_id text not null references runs on delete cascade,
	kind text not null,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	bundle jsonb not null,
	result_count jsonb not null default '{}',
	result jsonb,
	output text not null default '',
	overridden_by text references users on delete set null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	unique (run_id, kind)
);
create index policy_evaluations_open on policy_evaluations (run_id) where result is null;

create table policy_set_outcomes (
	id text primary key,
	policy_evaluation_id text not null references policy_evaluations on delete cascade,
	policy_set_id text not null,
	name text not null,
	description text not null default '',
	overridable boolean not null,
	outcomes jsonb not null default '[]',
	error text,
	result_count jsonb not null default '{}'
);
create index policy_set_outcomes_evaluation on policy_set_outcomes (policy_evaluation_id);

-- ---- Run tasks ----

-- HTTP services that an organization may call.
create table tasks (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	name text not null,
	url text not null,
	description text not null default '',
	hmac_sealed bytea,
	enabled boolean not null default true,
	global_enabled boolean not null default false,
	global_stages text[] not null default '{}',
	global_enforcement text not null default 'advisory',
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create unique index tasks_name on tasks (organization_id, lower(name));

create table workspace_tasks (
	id text primary key,
	task_id text not null references tasks on delete cascade,
	workspace_id text not null references workspaces on delete cascade,
	stages text[] not null,
	enforcement text not null,
	created_at timestamptz not null default now(),
	unique (workspace_id, task_id)
);
create index workspace_tasks_task on workspace_tasks (task_id);

-- Created with the run: one row per stage that has tasks.
create table task_stages (
	id text primary key,
	run_id text not null references runs on delete cascade,
	stage text not null,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	unique (run_id, stage)
);

-- One call of one task in one stage, with the task as it was when the run was created. `delivery` is the progress of the
-- request: waiting (to be claimed), claimed (by a notifier, until lease_until), acknowledged (answered 200, until due_at),
-- over.
create table task_results (
	id text primary key,
	task_stage_id text not null references task_stages on delete cascade,
	run_id text not null references runs on delete cascade,
	stage text not null,
	task_id text not null,
	workspace_task_id text,
	task_name text not null,
	task_url text not null,
	enforcement text not null,
	hmac_sealed bytea,
	status text not null default 'pending',
	status_timestamps jsonb not null default '{}',
	message text,
	url text,
	delivery text not null default 'none',
	attempt integer not null default 0,
	notifier text,
	token_hash text,
	give_up_at timestamptz,
	lease_until timestamptz,
	due_at timestamptz,
	last_at timestamptz,
	reported jsonb,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create index task_results_stage on task_results (task_stage_id);
create index task_results_run on task_results (run_id);
create index task_results_waiting on task_results (created_at) where delivery = 'waiting';
create index task_results_leases on task_results (lease_until) where delivery = 'claimed';
create index task_results_due on task_results (due_at) where delivery = 'acknowledged';
create index task_results_reported on task_results (updated_at) where reported is not null;

create table task_result_outcomes (
	id text primary key,
	task_result_id text not null references task_results on delete cascade,
	position integer not null,
	outcome_id text not null,
	description text not null,
	url text,
	tags jsonb not null default '{}',
	body text
);
create index task_result_outcomes_result on task_result_outcomes (task_result_id, position);

-- The delivery log: one row per request that was sent.
create table task_deliveries (
	id bigint generated always as identity primary key,
	task_result_id text not null references task_results on delete cascade,
	sent_at timestamptz not null default now(),
	status integer not null,
	seconds double precision not null,
	answer text,
	error text
);
create index task_deliveries_result on task_deliveries (task_result_id, id);

-- ---- Notifications ----

-- URLs contain secrets of chat services, so they are sealed (store/notifications/notification_urls.h).
create table notification_configurations (
	id text primary key,
	organization_id text not null references organizations on delete cascade,
	workspace_id text references workspaces on delete cascade,
	project_id text references projects on delete cascade,
	team_id text references teams on delete cascade,
	name text not null,
	enabled boolean not null,
	destination_type text not null check (destination_type in ('generic', 'slack', 'microsoft-teams', 'email')),
	url_sealed bytea,
	token_sealed bytea,
	triggers text[] not null default '{}',
	email_addresses text[] not null default '{}',
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	constraint notification_configurations_subscribable check (num_nonnulls(workspace_id, project_id, team_id) = 1),
	constraint notification_configurations_url check ((url_sealed is null) = (destination_type = 'email'))
);
create index notification_configurations_organization on notification_configurations (organization_id);
create index notification_configurations_workspace on notification_configurations (workspace_id, created_at);
create index notification_configurations_project on notification_configurations (project_id, created_at);
create index notification_configurations_team on notification_configurations (team_id, created_at);

create table notification_users (
	configuration_id text not null references notification_configurations on delete cascade,
	user_id text not null references users on delete cascade,
	primary key (configuration_id, user_id)
);
create index notification_users_user on notification_users (user_id);

-- Notifications that are not yet delivered or given up. `delivery` is waiting (to be claimed) or claimed (by a notifier,
-- until lease_until). Without a run it is a verification, a reminder of a workspace's automatic destruction, or an
-- invitation (membership_id).
create table notifications (
	id text primary key,
	configuration_id text references notification_configurations on delete cascade,
	run_id text references runs on delete cascade,
	trigger text not null,
	run_status text,
	happened_at timestamptz not null,
	actor_id text references users on delete set null,
	delivery text not null default 'waiting',
	attempt integer not null default 0,
	notifier text,
	give_up_at timestamptz not null,
	lease_until timestamptz,
	workspace_id text references workspaces on delete cascade,
	due_at timestamptz, -- when the workspace is destroyed
	membership_id text references organization_memberships (id) on delete cascade,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	check (num_nonnulls(configuration_id, membership_id) = 1)
);
create index notifications_configuration on notifications (configuration_id);
create index notifications_run on notifications (run_id);
create index notifications_waiting on notifications (created_at, id) where delivery = 'waiting';
create index notifications_leases on notifications (lease_until) where delivery = 'claimed';
create index notifications_workspace on notifications (workspace_id) where workspace_id is not null;
create index notifications_membership on notifications (membership_id) where membership_id is not null;

-- The last few answers of each destination.
create table notification_responses (
	id bigint generated always as identity primary key,
	configuration_id text not null references notification_configurations on delete cascade,
	url_sealed bytea, -- null: the answer of a mail server
	code text not null,
	body text not null,
	headers jsonb not null default '{}',
	successful boolean not null,
	sent_at timestamptz not null default now()
);
create index notification_responses_configuration on notification_responses (configuration_id, id);

-- Addresses at which schedulers reach the notifiers: callbacks of run tasks are forwarded to them.
create table notifiers (
	url text primary key,
	seen_at timestamptz not null default now()
);

-- ---- Messages ----

-- The scheduler numbers its messages itself (outbox/outbox.c), so that it need not read what it has written.
create table outbox (
	id bigint generated by default as identity primary key,
	topic text not null,
	partition integer not null default -1,
	key text,
	payload text not null,
	created_at timestamptz not null default now()
);

-- Messages that a reader could not use. Several readers of one message share a row (digest). The payload may be cut off;
-- `size` is the whole one's. A discarded letter stays for a while without its payload, so that a late report is known.
create table dead_letters (
	id bigint generated always as identity primary key,
	topic text not null,
	partition integer not null,
	"offset" bigint not null,
	payload bytea not null,
	error text not null,
	replayed_at timestamptz,
	digest text unique,
	reader text not null default 'scheduler',
	size integer not null,
	discarded boolean not null default false,
	created_at timestamptz not null default now()
);

-- ---- Audit ----

-- No foreign keys: events outlive what they are about. They name what was changed, and hold no values.
create table audit_events (
	id text primary key,
	position bigint generated always as identity,
	at timestamptz not null default now(),
	organization_id text,
	actor_type text not null,
	actor_id text,
	actor_name text,
	token_id text,
	address text,
	request_id text not null,
	action text not null,
	resource_type text not null,
	resource_id text,
	workspace_id text,
	attributes text[] not null default '{}'
);
create index audit_events_organization on audit_events (organization_id, at, position);
create index audit_events_at on audit_events (at, position);

-- The number of events before `until`, by organization and for the whole site (''), so that a page counts the last hours
-- only. An hour is counted an hour after its end, when no transaction of it is open any more. An hour without events has
-- no row. Events are never changed or deleted.
create table audit_totals (
	organization_id text not null,
	until timestamptz not null,
	events bigint not null,
	primary key (organization_id, until)
);

-- Up to when events are counted.
create table audit_counted (
	is_only boolean primary key default true check (is_only),
	until timestamptz not null
);
insert into audit_counted (until) values (date_trunc('hour', now() - interval '1 hour'));
