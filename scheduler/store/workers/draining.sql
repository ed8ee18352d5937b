-- SPDX-License-Identifier: MPL-2.0

-- fragment: worker_may_claim(k, p)
-- SQL: whether the worker `k` of the pool `p` may claim jobs, and its order (worker_order_name).
(:k.ordered is null and :p.drained_at is null);

-- fragment: worker_order(k, p)
coalesce(:k.ordered, case when :p.drained_at is not null then 'drain' end, 'none');

-- statement: worker_order_set
-- takes: worker_id text, worker_order_name text
update workers
set ordered = nullif(:worker_order_name, 'none')
where id = :worker_id and left_at is null;

-- statement: workers_order_all
-- takes: pool_id text, worker_order_name text
update workers
set ordered = nullif(:worker_order_name, 'none')
where pool_id = :pool_id and left_at is null;

-- statement: pool_drain_set
-- takes: pool_id text, drained boolean
update agent_pools
set drained_at = case when :drained then coalesce(drained_at, now()) end
where id = :pool_id;
