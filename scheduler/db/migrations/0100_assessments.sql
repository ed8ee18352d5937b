-- SPDX-License-Identifier: MPL-2.0
-- Health assessments: plans between runs that find drift and failed checks. Each is planned by a plan-only run that no
-- list of runs shows.
alter table runs add column assessment boolean not null default false;

-- When background/assessments.c looks at the workspace next; null: never.
alter table workspaces add column assess_at timestamptz;
create index workspaces_assess on workspaces (pool_id, assess_at) where assess_at is not null;

-- The result of the last assessment since the last change (assessment_results), and whether the last one that succeeded
-- found drift.
alter table workspaces add column assessment_id text;
alter table workspaces add column drifted boolean not null default false;
create index workspaces_drifted on workspaces (pool_id) where drifted;

-- Assessments that are underway, or have ended and are not evaluated yet. At most one for each workspace.
create table assessments (
	workspace_id text primary key references workspaces on delete cascade,
	run_id text not null unique references runs on delete cascade,
	pool_id text not null,
	created_by text, -- a user id; null: the scheduler
	created_at timestamptz not null default now()
);
create index assessments_pool on assessments (pool_id);

create table assessment_results (
	id text primary key,
	workspace_id text not null references workspaces on delete cascade,
	run_id text unique references runs on delete set null, -- null: it could not begin
	position bigint generated always as identity,
	succeeded boolean not null,
	error text,
	drifted boolean not null default false,
	resources_drifted bigint not null default 0,
	resources_undrifted bigint not null default 0,
	checks_passed bigint not null default 0,
	checks_failed bigint not null default 0,
	checks_errored bigint not null default 0,
	checks_unknown bigint not null default 0,
	drift_digest text not null default '', -- of what drifted: equal if the same resources drifted in the same way
	checks_digest text not null default '', -- of the checks that do not hold
	created_by text,
	created_at timestamptz not null default now()
);
create index assessment_results_workspace on assessment_results (workspace_id, position desc);

alter table notifications add column assessment_id text;

-- The settings of a workspace and of its organization say whether it is assessed. The first look is spread over the
-- organization's period by the workspace's id, so that many workspaces make an even load.
create function workspace_assess_first(workspace text, organization text, own jsonb) returns timestamptz
language sql stable as $$
	select case
		when coalesce((own->>'assessments-enabled')::boolean, false)
			or coalesce((o.settings->>'assessments-enforced')::boolean, false)
			then now() + coalesce((o.settings->>'assessment-hours')::integer, 24) * interval '1 hour'
				* (('x' || substr(md5(workspace), 1, 8))::bit(32)::bigint / 4294967296.0)
	end
	from organizations o where o.id = organization
$$;
create function workspace_assess_set() returns trigger language plpgsql as $$
begin
	if tg_op = 'UPDATE' and old.settings->'assessments-enabled' is not distinct from new.settings->'assessments-enabled' then
		return new;
	end if;
	new.assess_at := workspace_assess_first(new.id, new.organization_id, new.settings);
	if new.assess_at is null then
		new.assessment_id := null;
		new.drifted := false;
	end if;
	return new;
end $$;
create trigger workspaces_assess_created before insert on workspaces for each row execute function workspace_assess_set();
create trigger workspaces_assess_changed before update of settings on workspaces for each row
	when (old.settings is distinct from new.settings) execute function workspace_assess_set();
create function organization_assess_set() returns trigger language plpgsql as $$
begin
	update workspaces w set assess_at = f.at, drifted = w.drifted and f.at is not null,
			assessment_id = case when f.at is not null then w.assessment_id end
		from workspaces x cross join lateral (select workspace_assess_first(x.id, x.organization_id, x.settings) as at) f
		where w.organization_id = new.id and x.id = w.id;
	return null;
end $$;
create trigger organizations_assess_changed after update of settings on organizations for each row
	when (old.settings->'assessments-enforced' is distinct from new.settings->'assessments-enforced'
		or old.settings->'assessment-hours' is distinct from new.settings->'assessment-hours')
	execute function organization_assess_set();
