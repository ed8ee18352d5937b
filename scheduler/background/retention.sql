-- SPDX-License-Identifier: MPL-2.0

-- statement: retention_gauges
-- The tables' sizes are their file sizes. The object store's size comes from the counters in object_usage.
-- reads: object_usage
-- gives: blobs bigint, logs bigint, objects bigint, bytes bigint, removals bigint
select pg_total_relation_size('blobs') as blobs, pg_total_relation_size('log_chunks') as logs, u.objects,
    u.bytes, (select count(*) from (select 1 from object_removals limit 100000) r) as removals
from object_usage u;
