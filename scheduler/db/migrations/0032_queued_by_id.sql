-- SPDX-License-Identifier: MPL-2.0
-- A plan that was made while nothing waited looks for one run by its id in the index of those that wait, and reads all
-- of them for each run that is created. So it is asked in words that fit no such index.

create or replace function run_waits() returns trigger language plpgsql as $$
begin
	update workspaces set has_queue = true where id = new.workspace_id and not has_queue
		and (select queued from runs where id = new.id);
	return null;
end $$;
