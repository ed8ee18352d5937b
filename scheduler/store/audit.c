/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/audit.h"

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
		.resource = event->resource_id};

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

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

static json_t *known_json(const char *text)
{
	return json_string_or_null(known(text));
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
	outbox_written(&batch->messages, number, topic, known(event->organization), message);
}

int audit_insert(struct store *store, struct audit_batch *batch, struct err *err)
{
	if (!json_array_size(batch->rows))
		return 0;
	_cleanup_(freep) char *rows = json_text(batch->rows);
	if (db_queue(store->db, err,
		    "with u as materialized (select * from jsonb_to_recordset($1::jsonb) as u(id text, organization "
		    "text, actor_type text, actor_id text, actor_name text, token text, address text, request text, "
		    "action text, resource_type text, resource text, workspace text, attributes text, number bigint, "
		    "message text)), event as (insert into audit_events (id, organization_id, actor_type, actor_id, "
		    "actor_name, token_id, address, request_id, action, resource_type, resource_id, workspace_id, "
		    "attributes) select id, organization, actor_type, actor_id, actor_name, token, address, request, "
		    "action, resource_type, resource, workspace, attributes::text[] from u) "
		    "insert into outbox (id, topic, key, payload) select number, $2, organization, message from u",
		    P_TEXT(rows), P_TEXT(topics[TOPIC_EVENTS].name)) < 0)
		return -1;
	outbox_committed(store, &batch->messages);
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

#define EVENT_COLUMNS                                                                                                  \
	"id, position, at, organization_id, actor_type, actor_id, actor_name, token_id, address, request_id, action, " \
	"resource_type, resource_id, workspace_id, to_jsonb(attributes) as attributes "
#define TRAIL(events)                                                                                                  \
	"select n.total, e.* from (select count(*) as total from " events ") n left join (select " EVENT_COLUMNS       \
	"from " events "order by at desc, position desc limit $3 offset $4) e on true "                                \
	"order by e.at desc, e.position desc"
#define SINCE "($2::timestamptz is null or at > $2::timestamptz) "

int audit_read(struct store *store, const struct audit_list *list, struct rows *ret_rows, struct err *err)
{
	const char *sql = list->organization ? TRAIL("audit_events where organization_id = $1 and " SINCE)
					     : TRAIL("audit_events where $1::text is null and " SINCE);

	return db_query(store->db, ret_rows, err, sql, P_TEXT(list->organization), P_TEXT(list->since),
		P_INT(list->limit), P_INT(list->offset));
}
