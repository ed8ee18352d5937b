-- SPDX-License-Identifier: MPL-2.0

-- fragment: epoch_is_young(seconds)
-- True for one lease after an epoch began. `seconds`: the parameter with the lease.
exists (select 1 from database_history where epoch_at > now() - make_interval(secs => :seconds::int));

-- statement: epoch_lock
-- Serializes those that begin an epoch.
-- reads: database_history
select 1 from database_history for update;

-- statement: epoch_attempts
-- Returns claimed jobs, and waiting applies, after the id, in the order of their ids.
-- index: jobs_pkey
-- takes: after text, limit bigint
-- gives: id text, run_id text, attempt integer, stage text, claimed boolean
select id, run_id, attempt, stage, state = 'claimed' as claimed
from jobs
where id > :after and (state = 'claimed' or stage = 'apply')
order by id
limit :limit;

-- statement: epoch_advance
-- Begins the next epoch.
-- reads: database_history
update database_history set epoch = epoch + 1, epoch_at = now();

-- statement: epoch_hold_unknown
-- Holds workspaces for applies that a heartbeat names and the database does not know, and returns their runs.
--  - A hold of the fence gets the token of the unknown attempt, or of a later one than it has.
--  - An apply of an unknown job holds its workspace, unless the history names the worker that applied the run.
--  - Only runs of the worker's pool count, and only for a day after an epoch began.
-- `named`: the heartbeat's jobs; `token_hash`: the digest of the worker's own token. The worker is found in
-- workers_token or among its pool's, holds in workspace_holds_run, every other row by its primary key.
-- index: run_inputs_pool, workers_token, workspace_holds_run
-- reads: database_history
-- takes: named jsonb, token_hash text, reason text
-- gives: run_id text
with named as (
    select u.job, u.attempt, u."apply-of" as run, u."token-hash" as hash, w.id as worker_id, w.name,
        w.pool_id, coalesce(h.restored_at >= h.epoch_at, false) as restored
    from jsonb_to_recordset(:named::jsonb) as u(job text, attempt integer, "apply-of" text, "token-hash" text),
        workers w, database_history h
    where u."apply-of" is not null and u."token-hash" ~ '^[0-9a-f]{64}$'
        and w.token_hash = :token_hash and h.epoch_at > now() - interval '1 day'
),
mine as (
    select s.*, r.workspace_id
    from named s
    join runs r on r.id = s.run
    join run_inputs i on i.run_id = r.id
    where i.pool_id = s.pool_id and not exists (select 1 from jobs j where j.id = s.job)
),
known as (
    update workspace_holds h
    set token_hash = m.hash, worker = m.name, worker_id = m.worker_id, attempt = m.attempt
    from mine m
    where h.job_id = m.job and h.run_id = m.run and (h.token_hash = '' or h.attempt < m.attempt)
),
begun as (
    insert into workspace_holds
        (job_id, workspace_id, run_id, worker, token_hash, until, attempt, worker_id, restored)
    select m.job, m.workspace_id, m.run, m.name, m.hash, 'infinity', m.attempt, m.worker_id, m.restored
    from mine m
    where exists (
        select 1 from operations o where o.id = 'apply' || substr(m.run, 4) and o.worker_id is null
    )
    on conflict (job_id) do nothing
    returning job_id, workspace_id, run_id
),
held as (
    update workspaces w
    set hold_job_id = coalesce(w.hold_job_id, b.job_id)
    from begun b
    where w.id = b.workspace_id
    returning w.id, w.organization_id
),
noted as (
    insert into run_events (id, run_id, action, description)
    select 're-' || substr(md5(b.job_id), 1, 16), b.run_id, 'workspace-held', :reason
    from begun b
    on conflict (id) do nothing
),
audited as (
    insert into audit_events
        (id, organization_id, actor_type, actor_name, request_id, action, resource_type, resource_id, workspace_id)
    select gen_random_uuid(), organization_id, 'system', 'runyard-scheduler', gen_random_uuid(), 'hold',
        'workspace', id, id
    from held
)
select run_id
from begun;

-- statement: epoch_young
-- Whether the epoch began less than one lease ago.
-- reads: database_history
-- takes: lease_seconds integer
-- gives: young boolean
select :epoch_is_young(:lease_seconds) as young;

-- statement: restore_runs
-- Returns the runs that may have been applied since the backup: the active ones (`holds`), and saved plans.
-- index: runs_active, runs_saved
-- gives: id text, status text, holds boolean, workspace_id text, name text, organization text
select r.id, r.status, r.holds, w.id as workspace_id, w.name, o.name as organization
from runs r
join workspaces w on w.id = r.workspace_id
join organizations o on o.id = w.organization_id
where not r.plan_only and (r.holds or r.saved)
order by o.name, w.name, r.id;

-- statement: restore_mark
-- Late states are detached, and workers register anew. The history becomes the server's, so that no scheduler
-- fences again.
-- index: workspace_holds_until
-- reads: database_history, workers
-- takes: history text
with held as (update workspace_holds set restored = true where until is not null),
gone as (update workers set token_hash = null, left_at = coalesce(left_at, now()))
update database_history
set epoch = greatest(epoch, extract(epoch from now())::bigint), epoch_at = now(), restored_at = now(),
    history = :history;

-- statement: restore_drop_notifiers
-- The backup's notifiers register anew.
-- reads: notifiers
delete from notifiers;

-- statement: epoch_lock_history
-- Returns the known history, and whether replication is declared durable. Locks both.
-- reads: database_history
-- gives: history text null, durable boolean
select history, durable from database_history for update;

-- statement: epoch_history_set
-- The history of the database is from now on the server's.
-- reads: database_history
-- takes: history text
update database_history set history = :history;

-- statement: epoch_replication
-- Whether commits wait for a standby.
-- gives: durable boolean
select current_setting('synchronous_standby_names') <> ''
    and current_setting('synchronous_commit') in ('on', 'remote_apply') as durable;

-- statement: epoch_durable_set
-- Records whether replication is declared durable.
-- reads: database_history
-- takes: durable boolean
update database_history set durable = :durable where durable <> :durable;
