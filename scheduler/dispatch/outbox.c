/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/outbox.h"

#include "common/log.h"
#include "scheduler/dispatch/publisher.h"

void outbox_init(struct outbox *outbox)
{
	outbox->rows = json_array();
}

void outbox_release(struct outbox *outbox)
{
	json_decref(outbox->rows);
	outbox->rows = NULL;
}

void outbox_add(struct outbox *outbox, const char *topic, const char *key, char *payload)
{
	json_array_append_new(outbox->rows,
		json_pack("{ss so ss}", "topic", topic, "key", json_string_or_null(key), "payload", payload));
	free(payload);
}

void outbox_add_ticket(struct outbox *outbox, const char *pool_id, const char *job_id, const char *run_id)
{
	char topic[TOPIC_NAME_SIZE];
	struct job_ticket ticket;

	text_copy(ticket.job.text, sizeof(ticket.job.text), job_id);
	text_copy(ticket.run.text, sizeof(ticket.run.text), run_id);
	topic_of_pool(pool_id, topic);
	outbox_add(outbox, topic, NULL, job_ticket_encode(&ticket));
}

void outbox_add_task(struct outbox *outbox, const char *task_result_id, const char *run_id)
{
	struct task_ticket ticket;

	text_copy(ticket.task_result.text, sizeof(ticket.task_result.text), task_result_id);
	text_copy(ticket.run.text, sizeof(ticket.run.text), run_id);
	outbox_add(outbox, topics[TOPIC_TASKS].name, NULL, task_ticket_encode(&ticket));
}

void outbox_add_notification(struct outbox *outbox, const char *notification_id, const char *run_id)
{
	outbox_add(outbox, topics[TOPIC_TASKS].name, NULL, notification_ticket_encode(notification_id, run_id));
}

int outbox_insert(struct store *store, struct outbox *outbox, struct err *err)
{
	_cleanup_(rows_release) struct rows ids = ROWS_INIT;
	_cleanup_(freep) char *rows = json_text(outbox->rows);

	if (!json_array_size(outbox->rows))
		return 0;
	if (db_query(store->db, &ids, err,
		    "insert into outbox (topic, key, payload) select topic, key, payload from "
		    "jsonb_to_recordset($1::jsonb) as u(topic text, key text, payload text) "
		    "returning id, topic, key, payload",
		    P_TEXT(rows)) < 0)
		return -1;
	/* Now with their ids, for outbox_committed. */
	json_array_clear(outbox->rows);
	for (int i = 0; i < ids.count; i++)
		outbox_written(outbox, row_int(&ids, i, "id"), row_text(&ids, i, "topic"), row_text(&ids, i, "key"),
			row_text(&ids, i, "payload"));
	return 0;
}

void outbox_written(struct outbox *outbox, long long id, const char *topic, const char *key, const char *payload)
{
	json_array_append_new(outbox->rows,
		json_pack("{sI ss so ss}", "id", (json_int_t)id, "topic", topic, "key", json_string_or_null(key),
			"payload", payload));
}

struct handing {
	struct publisher *publisher;
	json_t *rows;
};

static void hand_over(void *data, bool committed)
{
	struct handing *handing = data;
	json_t *row;
	size_t i;

	json_array_foreach(handing->rows, i, row)
	{
		if (committed)
			log_debug("message committed", "topic", json_string_at(row, "topic"), "payload",
				json_string_at(row, "payload"), NULL);
		if (committed)
			publisher_offer(handing->publisher, json_int_at(row, "id", 0), json_string_at(row, "topic"),
				json_string_at(row, "key"), json_string_at(row, "payload"));
	}
	if (committed)
		publisher_wake(handing->publisher);
	json_decref(handing->rows);
	free(handing);
}

void outbox_committed(struct store *store, struct outbox *outbox)
{
	struct handing *handing;

	if (!store->publisher || !json_array_size(outbox->rows))
		return;
	handing = mem_new(1, sizeof(*handing));
	*handing = (struct handing){store->publisher, json_copy(outbox->rows)};
	db_after_commit(store->db, hand_over, handing);
}
