-- SPDX-License-Identifier: MPL-2.0
-- A number that every transaction raises which changes what somebody may, or who they are: while it stays, what was read
-- of that holds (auth/auth_cache.h). It is raised last, so that it is waited for by nobody who holds what another needs.

create table rights_version (
	is_only boolean primary key default true check (is_only),
	version bigint not null
);
insert into rights_version (version) values (1);

create function rights_changed() returns trigger language plpgsql as $$
begin
	if coalesce(current_setting('runyard.rights_changed', true), '') <> 'yes' then
		perform set_config('runyard.rights_changed', 'yes', true);
		update rights_version set version = version + 1;
	end if;
	return null;
end $$;

create constraint trigger rights_changed after insert or update or delete on team_members
	deferrable initially deferred for each row execute function rights_changed();
create constraint trigger rights_changed after insert or update or delete on organization_memberships
	deferrable initially deferred for each row execute function rights_changed();
create constraint trigger rights_changed after update on teams
	deferrable initially deferred for each row when (old.rights <> new.rights) execute function rights_changed();
create constraint trigger rights_changed after update on users
	deferrable initially deferred for each row when ((old.username, old.is_site_admin, old.is_service_account) is distinct from
		(new.username, new.is_site_admin, new.is_service_account)) execute function rights_changed();
create constraint trigger rights_changed after update on organizations
	deferrable initially deferred for each row when (old.settings->'user-tokens-enabled' is distinct from
		new.settings->'user-tokens-enabled') execute function rights_changed();
