-- SPDX-License-Identifier: MPL-2.0
-- A list reads fewer blocks, and asks less often.

-- A run's events are named from the index alone, and a workspace's runs are counted there.
drop index run_events_run;
create index run_events_run on run_events (run_id, created_at) include (id);
drop index runs_workspace;
create index runs_workspace on runs (workspace_id, position desc) include (plan_only);

-- While the rights' version stays (migration 0023), an organization's name is the same organization's, too: who is
-- remembered need not ask for it (auth/auth_cache.h).
create constraint trigger rights_changed_by_name after update on organizations
	deferrable initially deferred for each row when (old.name <> new.name) execute function rights_changed();
create constraint trigger rights_changed_by_end after delete on organizations
	deferrable initially deferred for each row execute function rights_changed();
