-- SPDX-License-Identifier: MPL-2.0

-- fragment: blob_select()
-- The columns of struct sealed_blob, for a statement that reads blobs as b. Of a blob of more than :most bytes, the
-- bytes are null (blob_read_within).
select b.id as blob_id, b.object_key, b.size, case when b.size <= :most then b.bytes_sealed end as sealed;

-- statement: blob_insert
-- Stores sealed bytes, unless there is a blob of that id.
-- takes: id text, size bigint, bytes_sealed bytea
insert into blobs (id, size, bytes_sealed)
values (:id, :size, :bytes_sealed)
on conflict (id) do nothing;

-- statement: blob_hold
-- Prevents the deletion of an existing blob until the transaction ends.
-- index: blobs_pkey
-- takes: id text
select 1 from blobs where id = :id for key share;

-- statement: blob_get
-- A blob by its id.
-- index: blobs_pkey
-- takes: id text, most bigint
-- gives: blob_id text, object_key text null, size bigint, sealed bytea null
:blob_select() from blobs b where b.id = :id;

-- statement: blob_pieces_read
-- Sealed bytes of a blob, from :first_byte (1: its first) on.
-- index: blobs_pkey
-- takes: id text, first_byte integer, len integer
-- gives: object_key text null, sealed bytea null
select object_key, substring(bytes_sealed from :first_byte::int for :len::int) as sealed
from blobs
where id = :id;
