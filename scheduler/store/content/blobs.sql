-- SPDX-License-Identifier: MPL-2.0

-- fragment: blob_select()
-- The same from a row of a statement that begins with BLOB_SELECT and reads blobs as b.
select b.id as blob_id, b.object_key, b.bytes_sealed as sealed;

-- statement: row_insert
-- takes: id text, size bigint, bytes_sealed bytea
insert into blobs (id, size, bytes_sealed)
values (:id, :size, :bytes_sealed)
on conflict (id) do nothing;

-- statement: blob_hold
-- takes: id text
select 1 from blobs where id = :id for key share;

-- statement: blob_get
-- takes: id text
-- gives: blob_id text null, object_key text null, sealed bytea null
:blob_select() from blobs b where b.id = :id;

-- statement: pieces_read
-- takes: id text, p2 integer, len integer
-- gives: object_key text null, sealed bytea
select object_key, substring(bytes_sealed from :p2::int for :len::int) as sealed
from blobs
where id = :id;
