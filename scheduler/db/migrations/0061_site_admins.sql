-- SPDX-License-Identifier: MPL-2.0
-- A suspended user keeps everything that is theirs and can use nothing of it: no token, no session, no sign-in.

alter table users add column is_suspended boolean not null default false;

drop trigger rights_changed on users;
create constraint trigger rights_changed after update on users
	deferrable initially deferred for each row when ((old.username, old.is_site_admin, old.is_service_account, old.is_suspended)
		is distinct from (new.username, new.is_site_admin, new.is_service_account, new.is_suspended)) execute function rights_changed();

-- Site admins list the runs of all organizations, newest first.
create index runs_position on runs (position desc);
