/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/republish.h"

#include "proto/messages.h"
#include "proto/topics.h"
#include "scheduler/outbox/outbox.h"

/* Returns one row. Each table is read by the index of its waiting rows. */
int work_republish(struct store *store, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "with waiting as (select $1 || pool_id as topic, class || $5 as key, json_build_object('v', "
		    "$4::int, 'job', id, 'run', "
		    "run_id) as payload from jobs where state = 'waiting' union all "
		    "select $2, null, json_build_object('v', $4::int, 'task-result', id, 'run', run_id) from "
		    "task_results "
		    "where delivery = 'waiting' union all "
		    "select $2, null, json_build_object('v', $4::int, 'notification', id, 'run', run_id) from "
		    "notifications "
		    "where delivery = 'waiting' union all "
		    "select $3, null, json_build_object('v', $4::int, 'task-result', id, 'run', run_id) from "
		    "task_results "
		    "where reported is not null), "
		    "sent as (insert into outbox (topic, key, payload) select topic, key, payload::text from waiting "
		    "returning "
		    "1) "
		    "select count(*) as count from sent",
		    P_TEXT(topics[TOPIC_JOBS].name), P_TEXT(topics[TOPIC_TASKS].name),
		    P_TEXT(topics[TOPIC_TASK_RESULTS].name), P_INT(MESSAGE_VERSION), P_TEXT(JOB_KEY_OF_CLASS)) < 0)
		return -1;
	*ret_count = row_int(&rows, 0, "count");
	return 0;
}
