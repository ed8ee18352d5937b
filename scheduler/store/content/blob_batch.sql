-- SPDX-License-Identifier: MPL-2.0

-- statement: blobs_insert
-- Inserts in the order of ids, so that transactions that store the same content concurrently do not deadlock.
-- takes: ids text[], sizes bigint[], sealed bytea[]
insert into blobs (id, size, bytes_sealed)
select id, size, sealed
from unnest(:ids::text[], :sizes::bigint[], :sealed::bytea[]) as u(id, size, sealed)
order by id
on conflict (id) do nothing;
