-- SPDX-License-Identifier: MPL-2.0

-- statement: work_republish
-- Announces all waiting work again: jobs, requests of run tasks and notifications, reports. Each table is read
-- by the index of its waiting rows.
-- index: jobs_waiting, notifications_waiting, task_results_reported, task_results_waiting
-- takes: jobs_topic text, tasks_topic text, results_topic text, message_version integer, key_end text
-- gives: count bigint
with waiting as (
    select :jobs_topic || pool_id as topic, class || :key_end as key,
        json_build_object('v', :message_version::int, 'job', id, 'run', run_id) as payload
    from jobs
    where state = 'waiting'
    union all
    select :tasks_topic, null, json_build_object('v', :message_version::int, 'task-result', id, 'run', run_id)
    from task_results
    where delivery = 'waiting'
    union all
    select :tasks_topic, null, json_build_object('v', :message_version::int, 'notification', id, 'run', run_id)
    from notifications
    where delivery = 'waiting'
    union all
    select :results_topic, null, json_build_object('v', :message_version::int, 'task-result', id, 'run', run_id)
    from task_results
    where reported is not null
),
sent as (
    insert into outbox (topic, key, payload) select topic, key, payload::text from waiting returning 1
)
select count(*) as count
from sent;
