-- SPDX-License-Identifier: MPL-2.0

-- fragment: run_trigger_columns()
t.*, w.name as workspace_name, s.name as source_name, w.organization_id;

-- fragment: run_trigger_tables()
from run_triggers t
join workspaces w on w.id = t.workspace_id
join workspaces s on s.id = t.source_id;

-- shape: run_trigger
-- total bigint optional, id text, workspace_id text, source_id text, created_at timestamptz,
-- workspace_name text, source_name text, organization_id text

-- statement: run_triggers_list
-- One page, the oldest first, with the total in each row; one row without a trigger if the page is empty.
-- index: run_triggers_pkey, workspaces_pkey
-- reads: run_triggers
-- takes: workspace_id text, outbound boolean, limit bigint, offset bigint
-- gives: run_trigger
with found as (
    select id
    from run_triggers
    where case when :outbound then source_id = :workspace_id else workspace_id = :workspace_id end
)
select c.total, t.*
from (select count(*) as total from found) c
left join (
    select :run_trigger_columns() :run_trigger_tables()
    where t.id in (select id from found)
    order by t.created_at, t.id
    limit :limit
    offset :offset
) t on true
order by t.created_at, t.id;

-- statement: run_trigger_read
-- One trigger.
-- index: run_triggers_pkey, workspaces_pkey
-- takes: id text
-- gives: run_trigger
select :run_trigger_columns() :run_trigger_tables() where t.id = :id;

-- statement: run_trigger_lock
-- Locks the workspace, so that no other request counts its sources.
-- index: workspaces_pkey
-- takes: workspace_id text
select 1 from workspaces where id = :workspace_id for no key update;

-- statement: run_trigger_create
-- Adds no row if the workspace has the maximum number of sources.
-- index: run_triggers_pair
-- takes: id text, workspace_id text, source_id text, max_sources bigint
insert into run_triggers (id, workspace_id, source_id)
select :id, :workspace_id, :source_id
where (select count(*) from run_triggers where workspace_id = :workspace_id) < :max_sources::bigint;

-- statement: run_trigger_delete
-- Deletes a trigger. Its pending triggers stay.
-- index: run_triggers_pkey
-- takes: id text
delete from run_triggers where id = :id;

-- statement: pending_triggers_insert
-- Inserts a pending trigger for each target of the runs.
-- index: run_triggers_source
-- takes: run_ids text[]
insert into pending_run_triggers (run_id, workspace_id)
select r.id, t.workspace_id
from runs r
join run_triggers t on t.source_id = r.workspace_id
where r.id = any(:run_ids::text[])
on conflict do nothing;

-- statement: pending_triggers_due
-- The longest due first.
-- index: pending_run_triggers_next
-- takes: limit bigint
-- gives: run_id text, workspace_id text
select run_id, workspace_id
from pending_run_triggers
where next_at <= now()
order by next_at
limit :limit;

-- statement: pending_trigger_lock
-- Locks a pending trigger that is due. `workspace_name` is null if the target was deleted. No row: another scheduler
-- has locked it.
-- index: pending_run_triggers_pkey, runs_pkey, workspaces_pkey
-- takes: run_id text, workspace_id text
-- gives: source_name text, workspace_name text null, auto_apply boolean
select s.name as source_name, w.name as workspace_name,
    coalesce((w.settings ->> 'auto-apply-run-trigger')::boolean, false) as auto_apply
from pending_run_triggers p
join runs r on r.id = p.run_id
join workspaces s on s.id = r.workspace_id
left join workspaces w on w.id = p.workspace_id
where p.run_id = :run_id and p.workspace_id = :workspace_id and p.next_at <= now()
for update of p skip locked;

-- statement: pending_trigger_delete
-- The pending trigger is done.
-- index: pending_run_triggers_pkey
-- takes: run_id text, workspace_id text
delete from pending_run_triggers where run_id = :run_id and workspace_id = :workspace_id;

-- statement: pending_trigger_postpone
-- The next try is after 2 s, then twice as long, at most 5 minutes. `workspace_name` is null if the target was deleted.
-- index: pending_run_triggers_pkey, workspaces_pkey
-- takes: run_id text, workspace_id text, error text
-- gives: tries integer, workspace_name text null
update pending_run_triggers p
set tries = tries + 1, error = :error,
    next_at = now() + least(interval '2 seconds' * power(2, least(tries, 20)), interval '5 minutes')
where run_id = :run_id and workspace_id = :workspace_id
returning tries, (select name from workspaces where id = p.workspace_id) as workspace_name;
