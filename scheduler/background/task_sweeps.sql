-- SPDX-License-Identifier: MPL-2.0

-- fragment: requests_again(table, member)
-- Announces requests whose notifier was lost, and requests that have waited so long that the broker may have
-- lost their message.
with again as (
    update :table
    set delivery = 'waiting', updated_at = now()
    where id in (
        (select id from :table where delivery = 'claimed' and lease_until < now() limit :max)
        union all
        (
            select id
            from :table
            where delivery = 'waiting' and updated_at < now() - interval '5 seconds'
            order by created_at
            limit :max
        )
    ) and delivery in ('claimed', 'waiting')
    returning id, run_id
)
insert into outbox (topic, payload)
select :topic, json_build_object('v', :message_version::int, :member, id, 'run', run_id)::text
from again;

-- statement: task_requests_again
-- Requests of run tasks.
-- index: task_results_leases, task_results_waiting
-- takes: topic text, message_version integer, max bigint
:requests_again(task_results, 'task-result');

-- statement: notifications_again
-- Notifications.
-- index: notifications_leases, notifications_waiting
-- takes: like task_requests_again
:requests_again(notifications, 'notification');

-- fragment: task_result_is_silent()
-- An open result whose deadline no notifier reported in time. A running result has no due_at while its request is sent:
-- the service called back before it acknowledged, or the request is repeated.
reported is null and status in ('pending', 'running')
    and (delivery = 'acknowledged' and due_at < now() - interval '30 seconds'
            or delivery in ('waiting', 'claimed') and :request_is_too_late());

-- statement: task_results_silent
-- index: task_results_open
-- gives: id text
select id
from task_results
where :task_result_is_silent();

-- statement: task_results_time_out
-- Reports the deadlines of these results. seconds: how late each one is.
-- index: task_results_pkey
-- takes: ids text[]
-- gives: seconds numeric
update task_results
set delivery = 'over', updated_at = now() - interval '1 minute', reported = case delivery
    when 'acknowledged' then jsonb_build_object(
        'status', 'failed', 'message', 'No answer: the service sent no progress within its time limit.')
    else jsonb_build_object('status', 'unreachable', 'message',
            'The request could not be sent in time: is a notifier running?') end
where id = any(:ids::text[]) and :task_result_is_silent()
returning extract(epoch from now() - coalesce(due_at, give_up_at)) as seconds;

-- statement: task_reports_due
-- Reports that nobody has decided yet. In random order, so that reports that fail each time do not keep others
-- out of the limit.
-- index: task_results_reported
-- takes: max bigint
-- gives: id text
select id
from task_results
where reported is not null and updated_at < now() - interval '3 seconds'
order by random()
limit :max;
