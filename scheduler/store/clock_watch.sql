-- SPDX-License-Identifier: MPL-2.0

-- fragment: clock_jobs(condition)
-- The jobs that match, locked. Jobs are always locked in the order of their ids.
(select id from jobs where :condition order by id for no key update) s;

-- fragment: clock_step()
-- The step as an interval.
:step_ms::bigint * interval '1 millisecond';

-- statement: clock_leases_of_jobs
-- Begins the leases of all jobs anew; the next two those of requests.
-- index: jobs_claimed
-- takes: lease_seconds integer
update jobs j
set lease_until = now() + make_interval(secs => :lease_seconds::int)
from :clock_jobs({state like 'claimed'})
where j.id = s.id;

-- statement: clock_leases_of_tasks
-- index: task_results_leases
-- takes: like clock_leases_of_jobs
update task_results
set lease_until = now() + make_interval(secs => :lease_seconds::int)
where delivery = 'claimed';

-- statement: clock_leases_of_notifications
-- index: notifications_leases
-- takes: like clock_leases_of_jobs
update notifications
set lease_until = now() + make_interval(secs => :lease_seconds::int)
where delivery = 'claimed';

-- statement: clock_deadlines_of_jobs
-- This and the following shift times by the step. After a step back, only a time in the future is certainly
-- from before the step. After a step forward, rows that were written since the step are shifted as well: their
-- deadlines are late, never early.
-- index: jobs_claimed
-- takes: step_ms bigint
update jobs j
set deadline = deadline + :clock_step()
from :clock_jobs({state like 'claimed' and deadline is not null and :step_ms::bigint > 0})
where j.id = s.id;

-- statement: clock_times_of_holds
-- index: workspace_holds_until
-- takes: like clock_deadlines_of_jobs
update workspace_holds
set until = until + :clock_step(), began_at = least(began_at + :clock_step(), now())
where until is not null and (:step_ms::bigint > 0 or began_at > now());

-- statement: clock_times_of_tasks
-- reads: task_results
-- takes: like clock_deadlines_of_jobs
update task_results
set give_up_at = give_up_at + :clock_step(), due_at = due_at + :clock_step(), last_at = last_at + :clock_step(),
    updated_at = least(updated_at + :clock_step(), now())
where reported is null and status in ('pending', 'running') and (:step_ms::bigint > 0 or updated_at > now());

-- statement: clock_times_of_notifications
-- reads: notifications
-- takes: like clock_deadlines_of_jobs
update notifications
set give_up_at = give_up_at + :clock_step(), updated_at = least(updated_at + :clock_step(), now())
where :step_ms::bigint > 0 or updated_at > now();

-- statement: clock_times_of_waiting_jobs
-- index: jobs_waiting
-- takes: like clock_deadlines_of_jobs
update jobs j
set announced_at = least(announced_at, now()),
    created_at = case when created_at > now() then created_at + :clock_step() else created_at end
from :clock_jobs({state = 'waiting' and :step_ms::bigint < 0 and greatest(announced_at, created_at) > now()})
where j.id = s.id;

-- statement: clock_times_of_outbox
-- reads: outbox
-- takes: like clock_deadlines_of_jobs
update outbox set created_at = now() where :step_ms::bigint < 0 and created_at > now();

-- statement: clock_times_of_identity_keys
-- reads: workload_keys
-- takes: like clock_deadlines_of_jobs
update workload_keys set signs_from = signs_from + :clock_step();

-- statement: clock_steps_count
-- Counts a step.
-- reads: clock_steps
update clock_steps set count = count + 1;

-- statement: clock_steps_lock
-- The number of steps that were corrected. The lock lets one scheduler correct a step.
-- reads: clock_steps
-- gives: count bigint
select count from clock_steps for update;

-- statement: clock_read
-- PostgreSQL's clock, and the number of steps.
-- reads: clock_steps
-- gives: ms bigint, count bigint
select (extract(epoch from clock_timestamp()) * 1000)::bigint as ms, count from clock_steps;
