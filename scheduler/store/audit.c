/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/audit.h"

#include <stdio.h>

#include "scheduler/dispatch/outbox.h"

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

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

int audit_write(struct store *store, const struct audit_event *event, struct err *err)
{
	_cleanup_(freep) char *message = NULL;
	_cleanup_(db_array_release) struct db_array none = DB_ARRAY_INIT;
	struct db_array *attributes = event->attributes ? event->attributes : &none;
	const char *topic = topics[TOPIC_EVENTS].name;
	long long number = outbox_number();
	struct outbox outbox;
	char id[AUDIT_UUID_SIZE];

	audit_uuid(id);
	message = message_encode(id, event);
	if (db_queue(store->db, err,
		    "with event as (insert into audit_events (id, organization_id, actor_type, actor_id, actor_name, "
		    "token_id, address, request_id, action, resource_type, resource_id, workspace_id, attributes) "
		    "values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13::text[])) "
		    "insert into outbox (id, topic, key, payload) values ($14, $15, $16, $17)",
		    P_TEXT(id), P_TEXT(known(event->organization)), P_TEXT(event->actor_type),
		    P_TEXT(known(event->actor_id)), P_TEXT(known(event->actor_name)), P_TEXT(known(event->token)),
		    P_TEXT(known(event->address)), P_TEXT(event->request), P_TEXT(event->action),
		    P_TEXT(event->resource_type), P_TEXT(known(event->resource_id)), P_TEXT(known(event->workspace)),
		    P_ARRAY(attributes), P_INT(number), P_TEXT(topic), P_TEXT(known(event->organization)),
		    P_TEXT(message)) < 0)
		return -1;
	outbox_init(&outbox);
	outbox_written(&outbox, number, topic, known(event->organization), message);
	outbox_committed(store, &outbox);
	outbox_release(&outbox);
	return 0;
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
