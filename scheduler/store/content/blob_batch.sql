-- SPDX-License-Identifier: MPL-2.0

-- statement: blobs_insert
-- takes: ids text[], sizes bigint[], p3 bytea[]
insert into blobs (id, size, bytes_sealed)
select id, size, sealed
from unnest(:ids::text[], :sizes::bigint[], :p3::bytea[]) as u(id, size, sealed)
order by id
on conflict (id) do nothing;
