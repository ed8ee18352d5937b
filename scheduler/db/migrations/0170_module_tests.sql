-- SPDX-License-Identifier: MPL-2.0
-- Tests of modules (terraform test). They run in a workspace of the module's own, its test bed, which no list, number or
-- route of workspaces has: it keeps the variables, the pool and the runs of the tests.
alter table registry_modules add column tests_enabled boolean not null default false;
alter table workspaces add column module_id text references registry_modules on delete cascade; -- null: not a test bed
create unique index workspaces_module on workspaces (module_id) where module_id is not null;

-- Test runs: plan-only runs whose job tests the module. No list of runs shows them.
alter table runs add column test boolean not null default false;
create index runs_tests on runs (workspace_id, position desc) where test;
alter table run_inputs add column test jsonb; -- {test-directory, filters, verbose, parallelism} of a test run

-- Lists of workspaces read the index alone, also with the condition that a workspace is no test bed.
drop index workspaces_created;
create index workspaces_created on workspaces (organization_id, created_at, id) include (module_id);
drop index workspaces_changed;
create index workspaces_changed on workspaces (organization_id, latest_change_at, id) include (module_id);
drop index workspaces_name;
create unique index workspaces_name on workspaces (organization_id, lower(name)) include (name, id, module_id);

-- A test bed is in no number of workspaces, inherits no tags, and is never assessed.
create or replace function workspaces_inserted() returns trigger language plpgsql as $$
begin
	insert into organization_totals as t (organization_id, workspaces)
		select organization_id, count(*) from inserted where module_id is null group by 1 order by 1
		on conflict (organization_id) do update set workspaces = t.workspaces + excluded.workspaces;
	insert into project_totals as t (project_id, workspaces)
		select project_id, count(*) from inserted where module_id is null group by 1 order by 1
		on conflict (project_id) do update set workspaces = t.workspaces + excluded.workspaces;
	return null;
end $$;
create or replace function workspaces_deleted() returns trigger language plpgsql as $$
declare
	total record;
begin
	for total in select organization_id as id, count(*) as n from deleted where module_id is null group by 1 order by 1 loop
		update organization_totals set workspaces = workspaces - total.n where organization_id = total.id;
	end loop;
	for total in select project_id as id, count(*) as n from deleted where module_id is null group by 1 order by 1 loop
		update project_totals set workspaces = workspaces - total.n where project_id = total.id;
	end loop;
	return null;
end $$;
create or replace function workspace_assess_first(workspace text, organization text, own jsonb) returns timestamptz
language sql stable as $$
	select case
		when own ? 'test-bed' then null
		when coalesce((own->>'assessments-enabled')::boolean, false)
			or coalesce((o.settings->>'assessments-enforced')::boolean, false)
			then now() + coalesce((o.settings->>'assessment-hours')::integer, 24) * interval '1 hour'
				* (('x' || substr(md5(workspace), 1, 8))::bit(32)::bigint / 4294967296.0)
	end
	from organizations o where o.id = organization
$$;
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
	where w.module_id is null and b.project_id is not null -- bindings of workspaces are excluded before any project's workspaces are read
	and (
		not exists (select 1 from tag_bindings o where o.workspace_id = w.id and o.tag_id = b.tag_id)
		or exists (
			select 1 from reserved_tag_keys r
			where r.organization_id = t.organization_id and r.key = t.name and r.disable_overrides
		)
	);

-- The runs of a test bed end with its module. They refer to its configurations, and so they are deleted first.
create function test_bed_deleted() returns trigger language plpgsql as $$
begin
	delete from runs where workspace_id = old.id;
	return old;
end $$;
create trigger test_beds_deleted before delete on workspaces for each row when (old.module_id is not null)
	execute function test_bed_deleted();
