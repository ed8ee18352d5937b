-- SPDX-License-Identifier: MPL-2.0

-- fragment: state_writes_places()
-- Locks the workspaces of writes by jobs and of others: no two states are compared with the same current one,
-- and no attempt ends meanwhile.
select id
from workspaces
where id in (
    select unnest(:workspaces::text[])
    union all
    select workspace_id
    from jobs
    where id = any(:jobs::text[])
    union all
    select workspace_id
    from workspace_holds
    where job_id = any(:jobs::text[])
)
order by id
for no key update;

-- shape: state_writes_place
-- id text

-- statement: state_writes_lock
-- Waits for locks of other transactions.
-- index: jobs_pkey, workspace_holds_pkey, workspaces_pkey
-- takes: jobs text[], workspaces text[]
-- gives: state_writes_place
:state_writes_places();

-- statement: state_writes_lock_ready
-- The same without waiting: only the workspaces that no other transaction has locked.
-- index: jobs_pkey, workspace_holds_pkey, workspaces_pkey
-- takes: like state_writes_lock
-- gives: state_writes_place
:state_writes_places() skip locked;

-- statement: state_writes_read
-- One row per state with a valid token or workspace: its workspace, the current state, and the rows that
-- lifecycle's state_order needs. Every row is found by a primary key, or by state_versions_job. PostgreSQL may
-- answer "exists" by reading a whole table and caching it for all rows; a scalar subquery is a lookup. came: the
-- ended job has already stored this state or a later one of the same lineage.
-- index: jobs_run_id_key, state_bases_blob, state_versions_detached, state_versions_job,
-- state_versions_workspace
-- takes: jobs text[], hashes text[], workspaces text[], pending text[], serials bigint[], lineages text[],
-- digests text[], creators text[]
-- gives: n bigint, workspace_id text, run_id text, late boolean, restored boolean, id text null, serial bigint,
-- lineage text null, md5 text null, job_id text null, base_id text null, base_digest text null,
-- pending text null, locked_by_creator boolean, own text null, own_detached text null, overtaken boolean,
-- others_work boolean, came boolean
select u.n - 1 as n, w.id as workspace_id, coalesce(j.run_id, h.run_id) as run_id,
    h.job_id is not null as late, coalesce(h.restored, false) as restored, s.id, s.serial, s.lineage,
    s.md5, s.job_id, x.blob_id as base_id, x.digest as base_digest,
    (select id from state_versions where id = u.pending and workspace_id = w.id and status = 'pending') as pending,
    coalesce(w.locked_by = u.creator, false) as locked_by_creator,
    (select id from state_versions where job_id = u.job and status <> 'detached') as own,
    (select id from state_versions where job_id = u.job and status = 'detached') as own_detached,
    h.job_id is not null and s.job_id is distinct from h.job_id
    and w.current_state_id is distinct from (
        select base_state_id from operations where id = 'plan' || substr(h.run_id, 4)
    ) as overtaken, h.job_id is not null
    and (w.locked_by is not null
            or (
                select 1
                from jobs
                where run_id = w.current_run_id and run_id <> h.run_id and stage = 'apply'
                    and state = 'claimed'
                limit 1
            ) is not null) as others_work, h.job_id is not null
    and (
        select 1
        from state_versions
        where job_id = h.job_id and status <> 'detached'
            and (serial = u.serial and md5 = u.md5 or serial > u.serial and lineage = u.lineage)
    ) is not null as came
from unnest(:jobs::text[], :hashes::text[], :workspaces::text[], :pending::text[], :serials::bigint[],
        :lineages::text[], :digests::text[], :creators::text[])
with ordinality as u(job, hash, workspace, pending, serial, lineage, md5, creator, n)
left join jobs j on j.id = u.job and j.token_hash = u.hash and j.state = 'claimed'
left join workspace_holds h on h.job_id = u.job and h.token_hash = u.hash and j.id is null
join workspaces w on w.id = coalesce(j.workspace_id, h.workspace_id, u.workspace)
left join state_versions s on s.id = w.current_state_id
left join state_bases x on x.state_version_id = s.id and x.blob_id = s.blob_id
order by u.n;

-- statement: state_pending_discard
-- Discards a state that was announced and never uploaded.
-- index: state_versions_workspace
-- takes: workspace_id text
update state_versions
set status = 'discarded'
where workspace_id = :workspace_id and status = 'pending';

-- statement: state_pending_insert
-- Announces a state, whose content is uploaded later.
-- takes: id text, workspace_id text, run_id text, serial bigint, lineage text, md5 text, created_by text
insert into state_versions (id, workspace_id, run_id, serial, lineage, md5, size, status, created_by)
values (:id, :workspace_id, :run_id, :serial, :lineage, :md5, 0, 'pending', :created_by);
