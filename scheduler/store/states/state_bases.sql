-- SPDX-License-Identifier: MPL-2.0

-- fragment: state_content_select()
-- The columns of struct sealed_state, for a statement that reads state_versions as s, blobs as b and
-- state_bases as x. Of a state or a blob of more than :most bytes, the bytes are null (blob_read_within).
select b.id as blob_id, b.object_key, greatest(b.size, s.size) as size,
    case when greatest(b.size, s.size) <= :most then b.bytes_sealed end as sealed, s.id as state_id,
    x.blob_id as base_id, x.difference_sealed;

-- fragment: state_content_join()
-- Joins blobs and state_bases with state_versions as s.
left join blobs b on b.id = s.blob_id
left join state_bases x on x.state_version_id = s.id and x.blob_id = s.blob_id;

-- statement: state_content
-- index: blobs_pkey, state_bases_pkey, state_versions_pkey
-- takes: state_id text, most bigint
-- gives: blob_id text null, object_key text null, size bigint null, sealed bytea null, state_id text,
-- base_id text null, difference_sealed bytea null
:state_content_select() from state_versions s :state_content_join() where s.id = :state_id;

-- statement: state_differences_write
-- Writes the newest states of applies as differences to their bases. Only the base's state has an MD5:
-- computing it for each state would double the worker's costs.
-- index: state_bases_pkey, state_versions_pkey
-- takes: ids text[], serials bigint[], sizes bigint[], sealed bytea[]
with u as (
    select *
    from unnest(:ids::text[], :serials::bigint[], :sizes::bigint[], :sealed::bytea[]) as u(id, serial, size, sealed)
),
kept as (
    update state_bases x set difference_sealed = u.sealed from u where x.state_version_id = u.id
)
update state_versions s
set serial = u.serial, size = u.size, md5 = ''
from u
where s.id = u.id;

-- statement: state_bases_insert
-- Makes the blobs the bases of the state versions.
-- takes: ids text[], blob_ids text[], digests text[]
insert into state_bases (state_version_id, blob_id, digest)
select *
from unnest(:ids::text[], :blob_ids::text[], :digests::text[]);
