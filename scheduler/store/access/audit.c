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
		json_pack("{ss so ss so so so so ss ss ss so so ss so sI ss}", "id", id, "organization",
			known_json(event->organization), "actor_type", event->actor_type, "actor_id",
			known_json(event->actor_id), "actor_name", known_json(event->actor_name), "token",
			known_json(event->token), "address", known_json(event->address), "request", event->request,
			"action", event->action, "resource_type", event->resource_type, "resource",
			known_json(event->resource_id), "workspace", known_json(event->workspace), "attributes",
			db_array_text(event->attributes ? event->attributes : &none), "details",
			event->details ? json_deep_copy(event->details) : json_object(), "number", (json_int_t)number,
			"message", message));
	outbox_written(&batch->messages, number, topic, text_or_null(event->organization), message);
}

int audit_insert(struct store *store, struct audit_batch *batch, struct err *err)
{
	if (!json_array_size(batch->rows))
		return 0;
	_cleanup_(freep) char *rows = json_text(batch->rows);
	if (db_queue(store->db, err, audit_insert, .rows = rows, .topic = topics[TOPIC_EVENTS].name) < 0)
		return -1;
	outbox_hand_over(&batch->messages, store->db, store->sink);
	return 0;
}

int audit_send(struct store *store, struct audit_batch *batch, struct err *err)
{
	_cleanup_(freep) char *rows = json_text(batch->rows);

	db_gather(store->db);
	if (db_queue(store->db, err, audit_insert, .rows = rows, .topic = topics[TOPIC_EVENTS].name) < 0)
		return -1;
	return db_send(store->db, err);
}

int audit_sent(struct store *store, struct audit_batch *batch, int result, struct err *err)
{
	if (db_gathered(store->db, result, err) < 0)
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

int audit_read(struct store *store, const struct audit_list *list, struct rows *ret_rows, struct err *err)
{
	const struct db_statement *statement =
		list->organization ? &audit_of_organization_statement : &audit_of_site_statement;

	return db_query_one_of(store->db, ret_rows, err, statement, audit_of_organization,
		.organization = list->organization, .since = list->since, .limit = list->limit, .offset = list->offset);
}

/* By the index that leaves the fewest events: of the resource, the actor, or the time. */
static const struct db_statement *search_of(const struct audit_list *list, const struct audit_filter *filter)
{
	if (filter->resource)
		return &audit_search_resource_statement;
	if (filter->actor && (text_starts(filter->actor, "user-") || text_starts(filter->actor, "apool-")))
		return &audit_search_actor_statement;
	return list->organization ? &audit_search_organization_statement : &audit_search_site_statement;
}

int audit_search(struct store *store, const struct audit_list *list, const struct audit_filter *filter,
	struct rows *ret_rows, struct err *err)
{
	return db_query_one_of(store->db, ret_rows, err, search_of(list, filter), audit_search_organization,
		.organization = list->organization, .since = list->since, .until = filter->until,
		.actor = filter->actor, .action = filter->action, .resource_type = filter->resource_type,
		.resource = filter->resource, .limit = list->limit, .offset = list->offset);
}

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
