-- SPDX-License-Identifier: MPL-2.0

-- shape: wait
-- id text, stage text

-- statement: wait_lock
-- takes: job text, run text
-- gives: wait
select o.id, j.stage
from jobs j
left join operations o on o.id = j.stage || substr(j.run_id, 4)
where j.id = :job and j.state = 'waiting' and j.run_id = :run
for no key update of j;

-- statement: wait_lock_lock_2
-- takes: run text
-- gives: wait
select o.id, 'plan' as stage
from runs r
left join operations o on o.id = 'plan' || substr(r.id, 4) and r.status = 'pending'
where r.id = :run and r.queued
for no key update of r;

-- statement: waits_filter
-- takes: runs text[], actions text[]
-- gives: n bigint
select u.n - 1 as n
from unnest(:runs::text[], :actions::text[])
with ordinality as u(run, action, n)
where u.action is not null
    and not exists (select 1 from run_events e where e.run_id = u.run and e.action = u.action)
order by u.n;
