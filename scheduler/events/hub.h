/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_EVENTS_HUB_H
#define SCHEDULER_EVENTS_HUB_H

/*
 * The event streams of this scheduler's clients. One thread reads the topic runyard.events, keeps its recent messages,
 * and sends each to the streams that watch its objects. It also sends the growth of watched logs.
 *
 * A stream's token and permissions are checked before an event, unless the last check is younger than 3 s
 * (hub_state.h). The topic announces changes of permissions, which make every check too old. Without events, streams
 * are checked every 15 s.
 */

#include "common/http/stream/http_stream.h"
#include "common/kafka/kafka_types.h"
#include "scheduler/events/event_topics.h"
#include "scheduler/store/store.h"

struct event_hub;

struct event_hub_spec {
	const struct store *store; /* copied; the hub opens a connection of its own */
	const char *database_url;
	const struct kafka_settings *kafka;
	int max_streams, max_per_user, max_per_address;
};

struct event_stream_spec {
	const char *token, *cookie; /* one of them, which the caller has authenticated */
	const char *address;
	const struct event_topics *topics; /* with their objects */
	const char *since;                 /* a cursor, or NULL */
};

int event_hub_start(const struct event_hub_spec *spec, struct event_hub **ret_hub, struct err *err);
/* Opens a stream, from any thread. *ret_stream is the answer's reference. ERR_UNAVAILABLE: too many, or the hub stops.
 */
int event_hub_open(
	struct event_hub *hub, const struct event_stream_spec *spec, struct http_stream **ret_stream, struct err *err);
/* Bytes of an operation's log have committed. From any thread. */
void event_hub_log_grew(void *hub, const char *operation_id);
/* Ends all streams and the thread. Later calls of event_hub_open fail. NULL-safe. */
void event_hub_stop(struct event_hub *hub);
/* Call it after event_hub_stop, when no thread can use the hub. NULL-safe. */
void event_hub_free(struct event_hub *hub);

#endif
