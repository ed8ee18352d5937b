/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/outbox/outbox.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "common/crypto.h"
#include "common/log.h"
#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/outbox/outbox.sql.h"
#include "scheduler/outbox/publisher.h"

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

_Static_assert(CLASS_COUNT == 4, "JOB_KEY_OF_CLASS");

void outbox_add_job(
	struct outbox *outbox, const char *pool_id, const char *job_id, const char *run_id, enum job_class class)
{
	_cleanup_(freep) char *key = mem_printf("%d" JOB_KEY_OF_CLASS, (int)class);
	char topic[TOPIC_NAME_SIZE];
	struct job_message message;

	text_copy(message.job.text, sizeof(message.job.text), job_id);
	text_copy(message.run.text, sizeof(message.run.text), run_id);
	topic_of_pool(pool_id, topic);
	outbox_add(outbox, topic, key, job_message_encode(&message));
}

void outbox_add_task(struct outbox *outbox, const char *task_result_id, const char *run_id)
{
	struct task_message ticket;

	text_copy(ticket.task_result.text, sizeof(ticket.task_result.text), task_result_id);
	text_copy(ticket.run.text, sizeof(ticket.run.text), run_id);
	outbox_add(outbox, topics[TOPIC_TASKS].name, NULL, task_message_encode(&ticket));
}

void outbox_add_notification(struct outbox *outbox, const char *notification_id, const char *run_id)
{
	outbox_add(outbox, topics[TOPIC_TASKS].name, NULL, notification_message_encode(notification_id, run_id));
}

/* Each process counts from a random start, far above the numbers of the table's sequence. */
static void number_first(atomic_llong *next)
{
	long long none = 0;
	uint64_t number;

	crypto_random(&number, sizeof(number));
	atomic_compare_exchange_strong(next, &none, (long long)(number >> 2 | 1ULL << 61));
}

long long outbox_number(void)
{
	static atomic_llong next;

	if (!atomic_load(&next))
		number_first(&next);
	return atomic_fetch_add(&next, 1);
}

void outbox_written(struct outbox *outbox, long long id, const char *topic, const char *key, const char *payload)
{
	json_array_append_new(outbox->rows,
		json_pack("{sI ss so ss}", "id", (json_int_t)id, "topic", topic, "key", json_string_or_null(key),
			"payload", payload));
}

struct handing {
	struct outbox_sink sink;
	json_t *rows;
};

static void row_hand_over(const struct handing *handing, const json_t *row)
{
	const char *topic = json_string_at(row, "topic"), *jobs = topics[TOPIC_JOBS].name;
	const char *payload = json_string_at(row, "payload");

	log_debug("message committed", "topic", topic, "payload", payload, NULL);
	if (handing->sink.waiters && text_starts(topic, jobs))
		claim_waiters_wake(handing->sink.waiters, topic + strlen(jobs));
	publisher_offer(handing->sink.publisher, json_int_at(row, "id", 0), topic, json_string_at(row, "key"), payload);
}

static void rows_hand_over(void *data, bool committed)
{
	struct handing *handing = data;
	json_t *row;
	size_t i;

	json_array_foreach(handing->rows, i, row)
	{
		if (committed)
			row_hand_over(handing, row);
	}
	if (committed)
		publisher_wake(handing->sink.publisher);
	json_decref(handing->rows);
	free(handing);
}

void outbox_hand_over(struct outbox *outbox, struct db *db, const struct outbox_sink *sink)
{
	struct handing *handing;

	if (sink && json_array_size(outbox->rows)) {
		handing = mem_new(1, sizeof(*handing));
		*handing = (struct handing){*sink, json_incref(outbox->rows)};
		db_after_commit(db, rows_hand_over, handing);
	}
	json_decref(outbox->rows);
	outbox->rows = json_array();
}

int outbox_insert(struct outbox *outbox, struct db *db, const struct outbox_sink *sink, struct err *err)
{
	json_t *row;
	size_t i;

	if (!json_array_size(outbox->rows))
		return 0;
	json_array_foreach(outbox->rows, i, row) json_object_set_new(row, "id", json_integer(outbox_number()));
	_cleanup_(freep) char *rows = json_text(outbox->rows);
	outbox_hand_over(outbox, db, sink);
	return db_queue(db, err, outbox_insert, .rows = rows);
}
