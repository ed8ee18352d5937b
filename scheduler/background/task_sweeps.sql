-- SPDX-License-Identifier: MPL-2.0

-- statement: report_silent
-- gives: seconds numeric
update task_results
set delivery = 'over', updated_at = now() - interval '1 minute', reported = case delivery
    when 'acknowledged' then jsonb_build_object(
        'status', 'failed', 'message', 'No answer: the service sent no progress within its time limit.')
    else jsonb_build_object('status', 'unreachable', 'message',
            'The request could not be sent in time: is a notifier running?') end
where reported is null and status in ('pending', 'running')
    and (delivery = 'acknowledged' and due_at < now() - interval '30 seconds'
            or delivery in ('waiting', 'claimed') and give_up_at < now() - interval '30 seconds')
returning extract(epoch from now() - case status when 'running' then due_at else give_up_at end) as seconds;

-- statement: sweep_task_deadlines
-- takes: max_swept bigint
-- gives: id text
select id
from task_results
where reported is not null and updated_at < now() - interval '3 seconds'
order by random()
limit :max_swept;
