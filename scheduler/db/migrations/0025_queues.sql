-- SPDX-License-Identifier: MPL-2.0
-- A queue that stands still though nothing is before it is found in an index of such, which is empty while all is well, and
-- not by a look at all that waits.

-- Said of each workspace in which a run waits for its turn; perhaps also of one where none does any more.
alter table workspaces add column has_queue boolean not null default false;
update workspaces set has_queue = true where id in (select workspace_id from runs where queued and not plan_only);
-- Free, and has a queue. No other change of a workspace writes an index by this.
alter table workspaces add column stands_still boolean not null
	generated always as (has_queue and current_run_id is null and locked_by is null and hold_job_id is null) stored;
create index workspaces_standing on workspaces (id) where stands_still;

-- Whoever leaves a run waiting says so with its commit, whatever it meant to do with it.
create function run_waits() returns trigger language plpgsql as $$
begin
	update workspaces set has_queue = true where id = new.workspace_id and not has_queue
		and exists (select 1 from runs where id = new.id and queued);
	return null;
end $$;
create constraint trigger runs_made_to_wait after insert on runs deferrable initially deferred for each row
	when (new.queued and not new.plan_only) execute function run_waits();
create constraint trigger runs_wait_again after update of queued on runs deferrable initially deferred for each row
	when (new.queued and not old.queued and not new.plan_only) execute function run_waits();

-- The one whose turn it is was perhaps the last: it has left the queue by now.
create function queue_moves() returns trigger language plpgsql as $$
begin
	new.has_queue := exists (select 1 from runs where workspace_id = new.id and queued and not plan_only);
	return new;
end $$;
create trigger workspaces_queue before update of current_run_id on workspaces for each row
	when (new.has_queue and new.current_run_id is distinct from old.current_run_id and new.current_run_id is not null)
	execute function queue_moves();
