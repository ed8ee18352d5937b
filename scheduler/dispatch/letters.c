/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/letters.h"

#include <stdio.h>

#include "common/log.h"
#include "common/metrics.h"
#include "scheduler/metrics.h"

enum { SHOWN = 1000 };

int letters_put(struct store *store, const struct kafka_message *message, const char *why, struct err *err)
{
	char labels[160];

	if (db_query(store->db, NULL, err,
		    "insert into dead_letters (topic, partition, \"offset\", payload, error) values ($1, $2, $3, $4, "
		    "$5)",
		    P_TEXT(message->topic), P_INT(message->partition), P_INT(message->offset),
		    P_BYTES(message->payload, message->len), P_TEXT(why)) < 0)
		return -1;
	snprintf(labels, sizeof(labels), "topic=\"%s\"", message->topic);
	metric_add(M_DEAD_LETTERS, labels, 1);
	log_error("a message went to the dead letters", "topic", message->topic, "error", why, NULL);
	return 0;
}

int letters_print(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select id, topic, error, created_at, replayed_at, left(encode(payload, 'escape'), 1000) as "
		    "payload "
		    "from (select * from dead_letters order by id desc limit $1) newest order by id",
		    P_INT(SHOWN)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		json_auto_t *letter = json_pack("{sI ss ss ss so so}", "id", (json_int_t)row_int(&rows, i, "id"),
			"topic", row_text(&rows, i, "topic"), "error", row_text(&rows, i, "error"), "created-at",
			row_text(&rows, i, "created_at"), "replayed-at",
			json_string_or_null(row_text(&rows, i, "replayed_at")), "payload",
			json_string_or_null(row_text(&rows, i, "payload")));
		_cleanup_(freep) char *line = json_text(letter);

		printf("%s\n", line);
	}
	return 0;
}

int letters_replay(struct store *store, long long id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* The outbox holds text: what is none can't have been a message of ours. */
	if (db_query(store->db, &rows, err,
		    "with letter as (update dead_letters set replayed_at = now() where id = $1 returning topic, "
		    "payload) "
		    "insert into outbox (topic, payload) select topic, convert_from(payload, 'UTF8') from letter",
		    P_INT(id)) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_NOT_FOUND, "there is no dead letter %lld", id);
}
