-- SPDX-License-Identifier: MPL-2.0

-- statement: work_republish
-- takes: name text, name_2 text, name_3 text, message_version integer, job_key_of_class text
-- gives: count bigint
with waiting as (
    select :name || pool_id as topic, class || :job_key_of_class as key,
        json_build_object('v', :message_version::int, 'job', id, 'run', run_id) as payload
    from jobs
    where state = 'waiting'
    union all
    select :name_2, null, json_build_object('v', :message_version::int, 'task-result', id, 'run', run_id)
    from task_results
    where delivery = 'waiting'
    union all
    select :name_2, null, json_build_object('v', :message_version::int, 'notification', id, 'run', run_id)
    from notifications
    where delivery = 'waiting'
    union all
    select :name_3, null, json_build_object('v', :message_version::int, 'task-result', id, 'run', run_id)
    from task_results
    where reported is not null
),
sent as (
    insert into outbox (topic, key, payload) select topic, key, payload::text from waiting returning 1
)
select count(*) as count
from sent;
