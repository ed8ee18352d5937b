-- SPDX-License-Identifier: MPL-2.0
-- Where content rests, and for how long: blobs in PostgreSQL or in an object store, logs as blobs once they are complete,
-- what nothing names any more, and how far each rule of retention has come. Nothing here is read by a scan of what is idle.

-- Sealed bytes are here, or are the object of that key. Those of a log are sealed in pieces that can be read one at a time.
alter table blobs alter column bytes_sealed drop not null;
alter table blobs add column object_key text;
alter table blobs add constraint blobs_somewhere check (num_nonnulls(bytes_sealed, object_key) = 1);
-- What is large enough to be moved is found from the large end.
create index blobs_here on blobs (size) where object_key is null;

-- Objects that are to go at a time, and perhaps are not there: every object stands here before it is written, and until a
-- blob points at it.
create table object_removals (
	key text primary key,
	blob_id text,
	size bigint not null,
	due_at timestamptz not null
);
create index object_removals_due on object_removals (due_at);
-- One move of a blob at a time, and none of what failed until that was cleared away.
create unique index object_removals_blob on object_removals (blob_id) where blob_id is not null;

-- What the object store holds for us: counted as objects are written and removed.
create table object_usage (
	one boolean primary key default true check (one),
	objects bigint not null default 0,
	bytes bigint not null default 0
);
insert into object_usage default values;

-- Readers that have just looked up where the content is may fetch it for another minute.
create function blob_leaves_object() returns trigger language plpgsql as $$
begin
	insert into object_removals (key, size, due_at) values (old.object_key, old.size, now() + interval '1 minute')
		on conflict (key) do nothing;
	return null;
end $$;
create trigger blobs_object after delete on blobs for each row when (old.object_key is not null)
	execute function blob_leaves_object();

-- Blobs that something has stopped naming: only these are ever looked at to find those that nothing names.
create table loose_blobs (
	blob_id text primary key,
	of_policy boolean not null default false,
	look_at timestamptz not null default now()
);
create index loose_blobs_look on loose_blobs (look_at);

alter table operations add column log_blob text references blobs;
alter table operations add column log_deleted_at timestamptz;
alter table operations add column plan_deleted_at timestamptz;
create index operations_log_blob on operations (log_blob) where log_blob is not null;

create function blob_loosened() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id) values (old.blob_id) on conflict do nothing;
	return null;
end $$;
-- Evaluations that are still to come name the policies' blobs in their bundles.
create function policy_blob_loosened() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id, of_policy, look_at) values (old.blob_id, true, now() + interval '1 day')
		on conflict (blob_id) do update set of_policy = true, look_at = excluded.look_at;
	return null;
end $$;
create function json_blob_loosened() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id) values (old.json_blob_id) on conflict do nothing;
	return null;
end $$;
create function operation_blobs_loosened() returns trigger language plpgsql as $$
begin
	insert into loose_blobs (blob_id) select distinct blob from
		unnest(array[old.plan_blob, old.json_blob, old.init_blob, old.schemas_blob, old.log_blob]) as blob
		where blob is not null on conflict do nothing;
	return null;
end $$;

create trigger configuration_versions_loosen after update of blob_id on configuration_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function blob_loosened();
create trigger configuration_versions_drop after delete on configuration_versions for each row
	when (old.blob_id is not null) execute function blob_loosened();
create trigger state_versions_loosen after update of blob_id on state_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function blob_loosened();
create trigger state_versions_drop after delete on state_versions for each row
	when (old.blob_id is not null) execute function blob_loosened();
create trigger state_versions_json_loosen after update of json_blob_id on state_versions for each row
	when (old.json_blob_id is not null and old.json_blob_id is distinct from new.json_blob_id) execute function json_blob_loosened();
create trigger state_versions_json_drop after delete on state_versions for each row
	when (old.json_blob_id is not null) execute function json_blob_loosened();
create trigger policies_loosen after update of blob_id on policies for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function policy_blob_loosened();
create trigger policies_drop after delete on policies for each row
	when (old.blob_id is not null) execute function policy_blob_loosened();
create trigger policy_set_versions_loosen after update of blob_id on policy_set_versions for each row
	when (old.blob_id is not null and old.blob_id is distinct from new.blob_id) execute function policy_blob_loosened();
create trigger policy_set_versions_drop after delete on policy_set_versions for each row
	when (old.blob_id is not null) execute function policy_blob_loosened();
create trigger operations_loosen after update of plan_blob, json_blob, init_blob, schemas_blob, log_blob on operations for each row
	when ((old.plan_blob, old.json_blob, old.init_blob, old.schemas_blob, old.log_blob)
		is distinct from (new.plan_blob, new.json_blob, new.init_blob, new.schemas_blob, new.log_blob))
	execute function operation_blobs_loosened();
create trigger operations_drop after delete on operations for each row
	when (num_nonnulls(old.plan_blob, old.json_blob, old.init_blob, old.schemas_blob, old.log_blob) > 0)
	execute function operation_blobs_loosened();

-- Each of those that are here now is looked at once.
insert into loose_blobs (blob_id, of_policy) select id, true from blobs;
create index policy_evaluations_open on policy_evaluations (run_id) where result is null;

-- How far a rule has come in the order of what it looks at. A rule holds for those without a policy of their own
-- (scope site), or for those whose policy says that number of days (scope policy): its setting.
create table retention_marks (
	rule text not null,
	scope text not null check (scope in ('site', 'policy')),
	setting bigint not null,
	at timestamptz not null default '-infinity',
	id text not null default '',
	primary key (rule, scope, setting)
);

-- The policy that holds for a workspace: its own, else the organization's. Without days nothing of it is ever deleted.
create view workspace_retention as
	select w.id as workspace_id, w.organization_id, coalesce(o.id, g.id) as policy_id,
		case when o.id is not null then o.delete_older_than_n_days else g.delete_older_than_n_days end as days
	from workspaces w left join data_retention_policies o on o.workspace_id = w.id
	left join data_retention_policies g on g.organization_id = w.organization_id;

-- Changes with the last transition alone, so that the others write no index.
alter table runs add column ended_at timestamptz generated always as (case when ended then updated_at end) stored;
create index runs_ended on runs (ended_at, id) where ended_at is not null;
create index state_versions_age on state_versions (created_at, id) where status = 'finalized';
create index state_versions_kept on state_versions (workspace_id, created_at) where status = 'finalized';
create index configuration_versions_age on configuration_versions (created_at, id);
create index configuration_versions_kept on configuration_versions (workspace_id, created_at) where status = 'uploaded';

-- Content that is out of sight, and when it went.
alter table state_versions add column hidden_at timestamptz;
alter table configuration_versions add column hidden_at timestamptz;
update state_versions set hidden_at = now() where status = 'backing_data_soft_deleted';
update configuration_versions set hidden_at = now() where status = 'backing_data_soft_deleted';
create index state_versions_hidden on state_versions (hidden_at) where status = 'backing_data_soft_deleted';
create index configuration_versions_hidden on configuration_versions (hidden_at) where status = 'backing_data_soft_deleted';
