/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/audit.h"

#include "scheduler/store/access/audit.sql.h"

#include <stdio.h>

void audit_uuid(char ret_uuid[AUDIT_UUID_SIZE])
{
	unsigned char bytes[16];
	size_t at = 0;

	crypto_random(bytes, sizeof(bytes));
	bytes[6] = (bytes[6] & 0x0f) | 0x40;
	bytes[8] = (bytes[8] & 0x3f) | 0x80;
	for (size_t i = 0; i < sizeof(bytes); i++)
		at += (size_t)snprintf(ret_uuid + at, AUDIT_UUID_SIZE - at, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

static char *message_encode(const char *id, const struct audit_event *event)
{
	struct audit_told told = {.id = id,
		.organization = event->organization,
		.actor = event->actor_id,
		.action = event->action,
		.resource_type = event->resource_type,
		.resource = event->resource_id,
		.workspace = text_or_null(event->workspace)};

	return audit_told_encode(&told);
}

void audit_batch_init(struct audit_batch *batch)
{
	batch->rows = json_array();
	outbox_init(&batch->messages);
}

void audit_batch_release(struct audit_batch *batch)
{
	json_decref(batch->rows);
	outbox_release(&batch->messages);
}

static json_t *known_json(const char *text)
{
	return json_string_or_null(text_or_null(text));
}

void audit_add(struct audit_batch *batch, const struct audit_event *event)
{
	_cleanup_(db_array_release) struct db_array none = DB_ARRAY_INIT;
	const char *topic = topics[TOPIC_EVENTS].name;
	long long number = outbox_number();
	_cleanup_(freep) char *message = NULL;
	char id[AUDIT_UUID_SIZE];

	audit_uuid(id);
	message = message_encode(id, event);
	json_array_append_new(batch->rows,
		json_pack("{ss so ss so so so so ss ss ss so so ss sI ss}", "id", id, "organization",
			known_json(event->organization), "actor_type", event->actor_type, "actor_id",
			known_json(event->actor_id), "actor_name", known_json(event->actor_name), "token",
			known_json(event->token), "address", known_json(event->address), "request", event->request,
			"action", event->action, "resource_type", event->resource_type, "resource",
			known_json(event->resource_id), "workspace", known_json(event->workspace), "attributes",
			db_array_text(event->attributes ? event->attributes : &none), "number", (json_int_t)number,
			"message", message));
	outbox_written(&batch->messages, number, topic, text_or_null(event->organization), message);
}

int audit_insert(struct store *store, struct audit_batch *batch, struct err *err)
{
	if (!json_array_size(batch->rows))
		return 0;
	_cleanup_(freep) char *rows = json_text(batch->rows);
	if (db_queue(store->db, err, audit_insert, .rows = rows, .name = topics[TOPIC_EVENTS].name) < 0)
		return -1;
	outbox_hand_over(&batch->messages, store->db, store->sink);
	return 0;
}

int audit_write(struct store *store, const struct audit_event *event, struct err *err)
{
	struct audit_batch batch;
	int result;

	audit_batch_init(&batch);
	audit_add(&batch, event);
	result = audit_insert(store, &batch, err);
	audit_batch_release(&batch);
	return result;
}

int audit_write_system(struct store *store, const struct audit_event *event, struct err *err)
{
	struct audit_event whole = *event;
	char request[AUDIT_UUID_SIZE];

	audit_uuid(request);
	whole.actor_type = "system";
	whole.actor_name = "runyard-scheduler";
	whole.request = request;
	return audit_write(store, &whole, err);
}

#define EVENT_COLUMNS                                                                                                  \
	"id, position, at, organization_id, actor_type, actor_id, actor_name, token_id, address, request_id, action, " \
	"resource_type, resource_id, workspace_id, to_jsonb(attributes) as attributes "
/* The number of events before that time, of whole hours only. */
#define COUNTED(whose, time)                                                                                           \
	"coalesce((select events from audit_totals where organization_id = " whose " and until <= " time               \
	" order by until desc limit 1), 0) "

/* Lists events that match the condition `own`; `whose` is the key of their totals. audit_totals has the counts from the
 * first full hour after `since` to the last hour that was counted; the rest is counted here. The page is found in an
 * index before any other column is read. `materialized` computes the total once; `offset 0` keeps the page a lookup per
 * event also with a plan of the time when there were none (0.5 ms, else seconds with 100,000 events). */
#define TRAIL(own, whose, same)                                                                                        \
	"(with n as materialized (select case when s.known < c.until then (select count(*) from audit_events "         \
	"where " own "and at > $2::timestamptz and at < s.known) + " COUNTED(whose, "c.until") "- " COUNTED(whose,     \
		"s.known") "+ (select count(*) from audit_events where " own                                           \
			   "and at >= c.until) else (select count(*) "                                                 \
			   "from audit_events where " own                                                              \
			   "and at > $2::timestamptz) end as total from audit_counted c, (select "                     \
			   "coalesce(date_trunc('hour', $2::timestamptz) + interval '1 hour', '-infinity') as known) " \
			   "s), "                                                                                      \
			   "k as (select at as k_at, position as k_position from audit_events where " own              \
			   "and ($2::timestamptz is null or "                                                          \
			   "at > $2::timestamptz) order by at desc, position desc limit $3 offset $4) "                \
			   "select n.total, e.* from n left join (select " EVENT_COLUMNS                               \
			   "from k cross join lateral (select * from "                                                 \
			   "audit_events x where " same                                                                \
			   "x.at = k_at and x.position = k_position offset 0) e) e on true "                           \
			   "order by e.at desc, e.position desc)"

int audit_read(struct store *store, const struct audit_list *list, struct rows *ret_rows, struct err *err)
{
	const char *sql = list->organization ? TRAIL("organization_id = $1 ", "$1", "x.organization_id = $1 and ")
					     : TRAIL("$1::text is null ", "''", "");

	return db_query_sql(store->db, ret_rows, err, sql, P_TEXT(list->organization), P_TEXT(list->since),
		P_INT(list->limit), P_INT(list->offset));
}

/* Counts the next hour with events, if it ended at least an hour ago. Concurrent schedulers write identical rows. */
int audit_count(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	do {
		rows_release(&rows);
		if (db_query(store->db, &rows, err, audit_count) < 0)
			return -1;
	} while (db_affected(&rows));
	return 0;
}
