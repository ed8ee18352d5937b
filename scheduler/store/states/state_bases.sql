-- SPDX-License-Identifier: MPL-2.0

-- fragment: state_content_select()
-- The columns of state_content_of_row, for a statement that reads state_versions as s, blobs as b and
-- state_bases as x.
select b.id as blob_id, b.object_key, b.bytes_sealed as sealed, s.id as state_id, x.blob_id as base_id,
    x.difference_sealed;

-- fragment: state_content_join()
-- Joins both with state_versions as s.
left join blobs b on b.id = s.blob_id
left join state_bases x on x.state_version_id = s.id and x.blob_id = s.blob_id;

-- statement: state_content
-- takes: state_id text
-- gives: blob_id text null, object_key text null, sealed bytea null, state_id text, base_id text null,
-- difference_sealed bytea null
:state_content_select() from state_versions s :state_content_join() where s.id = :state_id;

-- statement: differences_write
-- takes: p1 text[], p2 bigint[], p3 bigint[], p4 bytea[]
with u as (
    select *
    from unnest(:p1::text[], :p2::bigint[], :p3::bigint[], :p4::bytea[]) as u(id, serial, size, sealed)
),
kept as (
    update state_bases x set difference_sealed = u.sealed from u where x.state_version_id = u.id
)
update state_versions s
set serial = u.serial, size = u.size, md5 = ''
from u
where s.id = u.id;

-- statement: state_bases_insert
-- takes: p1 text[], p2 text[], p3 text[]
insert into state_bases (state_version_id, blob_id, digest)
select *
from unnest(:p1::text[], :p2::text[], :p3::text[]);
