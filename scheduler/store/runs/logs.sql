-- SPDX-License-Identifier: MPL-2.0

-- statement: log_chunks_insert
-- Adds sealed chunks of logs.
-- takes: operations text[], starts bigint[], lengths integer[], sealed bytea[]
insert into log_chunks (operation_id, start, length, bytes_sealed)
select operation_id, start, length, sealed
from unnest(:operations::text[], :starts::bigint[], :lengths::integer[], :sealed::bytea[])
    as u(operation_id, start, length, sealed);

-- statement: log_line_add
-- Makes room for the line; returns where it begins.
-- index: operations_pkey
-- takes: operation_id text, len bigint
-- gives: start bigint
update operations
set log_length = log_length + :len
where id = :operation_id
returning log_length - :len as start;

-- statement: log_read
-- The log's row, with its chunks in the range [offset, end) of the stream. Both are of one snapshot, since log_pack may
-- replace chunks by a blob. `start` is null if there is no chunk. The index finds the first chunk of the range, so a
-- read at the end of a log does not scan the chunks before it.
-- index: log_chunks_pkey, operations_pkey
-- takes: operation_id text, offset bigint, end integer
-- gives: log_length bigint, log_ended boolean, log_blob text null, deleted boolean, start bigint null,
-- bytes_sealed bytea null
select o.log_length, o.log_ended, o.log_blob, o.log_deleted_at is not null as deleted, c.start, c.bytes_sealed
from operations o
left join log_chunks c on c.operation_id = o.id
    and c.start >= coalesce(
        (select max(f.start) from log_chunks f where f.operation_id = :operation_id and f.start < :offset), 0)
    and c.start < :end - 1
    and c.start + c.length + 1 > :offset
where o.id = :operation_id
order by c.start;

-- statement: log_lookup
-- The log and its place, without its bytes.
-- index: operations_pkey, runs_pkey, workspaces_pkey
-- takes: operation_id text
-- gives: organization_id text, workspace_id text, workspace_name text, run_id text, log_length bigint,
-- log_ended boolean, log_deleted boolean
select r.organization_id, r.workspace_id, w.name as workspace_name, o.run_id, o.log_length, o.log_ended,
    o.log_deleted_at is not null as log_deleted
from operations o
join runs r on r.id = o.run_id
join workspaces w on w.id = r.workspace_id
where o.id = :operation_id;

-- statement: logs_lengths
-- The lengths of the streams: with the STX, and with the ETX if the log has ended. `stored`: the bytes are in chunks.
-- index: operations_pkey
-- takes: operation_ids text[]
-- gives: id text, length bigint, ended boolean, stored boolean
select id,
    log_length + case when log_ended then 2 when log_length > 0 then 1 else 0 end as length,
    log_ended as ended, log_blob is null and log_deleted_at is null as stored
from operations
where id = any(:operation_ids::text[]);

-- statement: log_pack_lock
-- Locks the log; no row if it can't be packed.
-- index: operations_pkey
-- takes: operation_id text, min bigint, max bigint
select 1
from operations
where id = :operation_id and log_ended and log_blob is null and log_deleted_at is null
    and log_length between :min and :max
for no key update;

-- statement: log_pack_set
-- The log's bytes are in the blob.
-- index: operations_pkey
-- takes: operation_id text, blob text
update operations set log_blob = :blob where id = :operation_id;

-- statement: log_pack_delete
-- Deletes the log's chunks.
-- index: log_chunks_pkey
-- takes: operation_id text
delete from log_chunks where operation_id = :operation_id;
