/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include "scheduler/auth/sessions.h"
#include "scheduler/events/channels.h"
#include "scheduler/events/hub.h"
#include "scheduler/store/access/watched_objects.h"
#include "scheduler/store/access/watched_objects.sql.h"

/* The stream of events (scheduler/events/hub.h). The hub checks the permission for each topic. An event denies a topic
 * whose object does not exist or may not be read, and the other topics continue. */

static int objects_find(struct store *store, struct event_topics *topics, struct err *err)
{
	_cleanup_(db_array_release) struct db_array kinds = DB_ARRAY_INIT, names = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (size_t i = 0; i < topics->count; i++) {
		struct event_topic *topic = &topics->items[i];

		if (topic->kind == EVENTS_OF_SITE)
			text_copy(topic->object.text, ID_SIZE, CHANNEL_OF_SITE);
		db_array_add(&kinds, event_topic_word(topic->kind));
		db_array_add(&names, topic->name);
	}
	if (watched_objects_find(store, &kinds, &names, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct watched_objects_find_row *found = row_of(watched_objects_find, &rows, i);
		struct event_topic *topic = &topics->items[found->n - 1];

		text_copy(topic->object.text, ID_SIZE, found->object_id);
		text_copy(topic->organization.text, ID_SIZE, found->organization_id);
		text_copy(topic->workspace.text, ID_SIZE, found->workspace_id);
	}
	return 0;
}

/* Browsers send the last id by themselves when they connect again to the same address. */
static const char *since_of(const struct request *req)
{
	const char *last = http_header(req->http, "Last-Event-ID");

	return last && *last ? last : query(req, "since");
}

int events_stream(struct request *req, struct response *res, struct err *err)
{
	struct event_topics topics;
	struct event_stream_spec spec = {.token = req->bearer,
		.cookie = req->bearer ? NULL : http_cookie(req->http, SESSION_COOKIE),
		.address = req->http->address,
		.topics = &topics,
		.since = since_of(req)};

	if (req->actor.kind != ACTOR_USER)
		return err_set(err, ERR_NOT_FOUND, "not found");
	if (event_topics_parse(query(req, "topics"), &topics, err) < 0 || objects_find(req->store, &topics, err) < 0)
		return -1;
	res->http->content_type = "text/event-stream";
	http_add_header(res->http, "X-Accel-Buffering", "no");
	if (!text_equal(req->http->method, "GET"))
		return 0;
	return event_hub_open(req->services->events, &spec, &res->http->stream, err);
}
