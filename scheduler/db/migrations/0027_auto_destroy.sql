-- When a workspace is next looked at to be destroyed automatically (background/auto_destroy.c); null: never. A time that was set stands
-- there as it is; a duration is looked at at once, and from then on when it is over at the earliest: activity only moves that time on.
alter table workspaces add column destroy_check_at timestamptz;
create index workspaces_destroy_check on workspaces (destroy_check_at) where destroy_check_at is not null;

create function workspace_destroy_check(settings jsonb, project text) returns timestamptz language sql stable as $$
	select case when settings->>'auto-destroy-at' is not null then (settings->>'auto-destroy-at')::timestamptz
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

update workspaces set destroy_check_at = workspace_destroy_check(settings, project_id);
