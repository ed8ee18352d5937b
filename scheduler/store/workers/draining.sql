-- SPDX-License-Identifier: MPL-2.0

-- fragment: worker_may_claim(k, p)
-- Whether the worker `k` of the pool `p` may claim jobs.
(:k.ordered is null and :p.drained_at is null);

-- fragment: worker_order(k, p)
-- The order to the worker `k` of the pool `p`, by its name.
coalesce(:k.ordered, case when :p.drained_at is not null then 'drain' end, 'none');

-- statement: worker_order_set
-- Sets the order to a worker that has not left.
-- index: workers_pkey
-- takes: worker_id text, order_name text
update workers
set ordered = nullif(:order_name, 'none')
where id = :worker_id and left_at is null;

-- statement: workers_order_all
-- The same for all workers of the pool.
-- index: workers_pool
-- takes: pool_id text, order_name text
update workers
set ordered = nullif(:order_name, 'none')
where pool_id = :pool_id and left_at is null;

-- statement: pool_drain_set
-- Drains the pool, or resumes it.
-- index: agent_pools_pkey
-- takes: pool_id text, drained boolean
update agent_pools
set drained_at = case when :drained then coalesce(drained_at, now()) end
where id = :pool_id;
