/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/republish.h"

#include "proto/messages.h"
#include "proto/topics.h"
#include "scheduler/background/republish.sql.h"
#include "scheduler/outbox/outbox.h"

int work_republish(struct store *store, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, work_republish, .jobs_topic = topics[TOPIC_JOBS].name,
		    .tasks_topic = topics[TOPIC_TASKS].name, .results_topic = topics[TOPIC_TASK_RESULTS].name,
		    .message_version = MESSAGE_VERSION, .key_end = JOB_KEY_OF_CLASS) < 0)
		return -1;
	*ret_count = row_of(work_republish, &rows, 0)->count;
	return 0;
}
