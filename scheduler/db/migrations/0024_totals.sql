-- SPDX-License-Identifier: MPL-2.0
-- How many workspaces an organization and a project have, kept by whatever makes, moves or deletes some, in the same
-- transaction: a page of a list says how many there are in all, and does not count them. Without a row there are none.

create table organization_totals (
	organization_id text primary key references organizations on delete cascade,
	workspaces bigint not null
) with (fillfactor = 50);
create table project_totals (
	project_id text primary key references projects on delete cascade,
	workspaces bigint not null
) with (fillfactor = 50);

-- Always the organization's before the projects' in their order, so that two of them do not wait for each other.
create function workspaces_made() returns trigger language plpgsql as $$
begin
	insert into organization_totals as t (organization_id, workspaces)
		select organization_id, count(*) from made group by 1 order by 1
		on conflict (organization_id) do update set workspaces = t.workspaces + excluded.workspaces;
	insert into project_totals as t (project_id, workspaces)
		select project_id, count(*) from made group by 1 order by 1
		on conflict (project_id) do update set workspaces = t.workspaces + excluded.workspaces;
	return null;
end $$;
-- Where the organization itself goes, its total is gone already.
create function workspaces_gone() returns trigger language plpgsql as $$
declare
	was record;
begin
	for was in select organization_id as id, count(*) as n from gone group by 1 order by 1 loop
		update organization_totals set workspaces = workspaces - was.n where organization_id = was.id;
	end loop;
	for was in select project_id as id, count(*) as n from gone group by 1 order by 1 loop
		update project_totals set workspaces = workspaces - was.n where project_id = was.id;
	end loop;
	return null;
end $$;
-- By row, since almost nothing that changes a workspace moves it.
create function workspace_moved() returns trigger language plpgsql as $$
declare
	place record;
begin
	for place in select * from (values (old.project_id, -1), (new.project_id, 1)) v (id, n) order by 1 loop
		insert into project_totals as t (project_id, workspaces) values (place.id, place.n)
			on conflict (project_id) do update set workspaces = t.workspaces + excluded.workspaces;
	end loop;
	return null;
end $$;

create trigger workspaces_made after insert on workspaces referencing new table as made
	for each statement execute function workspaces_made();
create trigger workspaces_gone after delete on workspaces referencing old table as gone
	for each statement execute function workspaces_gone();
create trigger workspace_moved after update of project_id on workspaces for each row
	when (old.project_id is distinct from new.project_id) execute function workspace_moved();

insert into organization_totals select organization_id, count(*) from workspaces group by 1;
insert into project_totals select project_id, count(*) from workspaces group by 1;

-- A page far from both ends is walked to in an index alone.
drop index workspaces_name;
create unique index workspaces_name on workspaces (organization_id, lower(name)) include (name, id);
