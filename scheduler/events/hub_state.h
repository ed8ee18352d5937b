/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_EVENTS_HUB_STATE_H
#define SCHEDULER_EVENTS_HUB_STATE_H

/*
 * The state of the hub (hub.h), which only its thread uses, and the parts that work on it. Invariants:
 *
 *  1. A stream is in the list `streams` from its arrival until streams_sweep. A stream with `over` receives nothing
 * more.
 *  2. An event is sent to a stream only after a check of its token or session. The check is at most ACCESS_FRESH_MS
 *     old. It is younger than the last message that may have changed permissions.
 *  3. The ids that a stream receives never decrease, and each event's id is the position after it.
 *  4. A stream that misses an event receives a reset instead, with the next event or comment at the latest.
 */

#include <pthread.h>
#include <stdatomic.h>

#include "common/http/httpd.h"
#include "common/loop/loop.h"
#include "scheduler/auth/watchers.h"
#include "scheduler/events/channels.h"
#include "scheduler/events/event_ring.h"
#include "scheduler/events/event_topics.h"

enum {
	ACCESS_FRESH_MS = 3000,    /* how long the result of a check of permissions is used */
	ACCESS_OFFLINE_MS = 2000,  /* the same while no message can say that permissions have changed */
	STREAM_ALIVE_MS = 15000,   /* between two comments */
	AHEAD_MS = 3000,           /* for which a stream may be ahead of the hub */
	STREAM_BUFFER = 256 << 10, /* bytes that wait for one client */
};

/* One topic of a stream. */
struct stream_topic {
	struct subscription subscription; /* first: channels return a pointer to it */
	struct event_topic topic;
	bool over; /* of a log: all of it was sent */
};

struct event_stream {
	struct http_stream *http;
	struct watcher watcher;
	char address[HTTP_ADDRESS_SIZE];
	struct stream_topic *topics;
	size_t count;
	struct cursor *since; /* no event before this position is sent; NULL: all */
	bool waits;           /* nothing was sent yet: the topic is not read so far */
	bool missed;          /* a reset is due */
	bool over;
	bool listed;        /* in the list of a check */
	int64_t checked_ms; /* 0: never */
	uint64_t access;    /* the hub's count at that check */
	int64_t alive_ms;   /* when the next comment is due */
	int64_t ahead_ms;   /* until when the hub may be behind `since` */
	uint64_t mark;      /* of the last event that it was considered for */
	struct event_stream *next, *previous;
};

struct feed;
struct kafka_settings;
struct tails;

struct event_hub {
	int max_streams, max_per_user, max_per_address;
	struct store store;
	struct loop *loop;
	pthread_t thread;
	struct loop_timer tick;
	struct channels *channels;
	struct event_ring *ring;
	struct feed *feed;
	struct tails *tails;
	struct event_stream *streams;
	int64_t now_ms;     /* when the current callback of the loop began: a check stays fresh until its end */
	bool online;        /* the topic is read up to its end, and a broker is connected */
	json_t *given;      /* "<user>/<workspace>": the rights that teams give the user there */
	int64_t given_ms;   /* since when it is used */
	uint64_t access;    /* counts the messages that may have changed permissions */
	int64_t all_due_ms; /* when all streams that were not checked since may be checked */
	uint64_t marks;
	/* Of all threads. */
	pthread_mutex_t mutex;
	struct event_stream *arrived; /* streams that were opened, under the mutex */
	bool stops;                   /* under the mutex */
	atomic_bool refused;          /* a stream, since there were too many */
	int wake;                     /* an eventfd */
	atomic_int open;              /* streams, those that have not arrived included */
};

/* A list of streams. `items` is owned. */
struct stream_list {
	struct event_stream **items;
	size_t count, room;
};
void stream_list_add(struct stream_list *list, struct event_stream *stream);
void stream_list_release(struct stream_list *list);

/* ---- streams.c ---- */

/* Writes to the client. A client that is too slow gets a reset instead, or its stream ends. */
void stream_write(struct event_hub *hub, struct event_stream *stream, const char *text, size_t len);
/* Writes one event without an id. Takes the data. */
void stream_tell(struct event_hub *hub, struct event_stream *stream, const char *name, json_t *data);
/* Writes an event with the hub's position as its id: "online" or "reset". */
void stream_tell_position(struct event_hub *hub, struct event_stream *stream, const char *name);
/* Tells the client why, and ends the stream. */
void stream_end(struct event_hub *hub, struct event_stream *stream, const char *why);
void stream_unsubscribe(struct event_hub *hub, struct stream_topic *topic);
/* Frees the streams that are over. */
void streams_sweep(struct event_hub *hub);
void stream_free(struct event_stream *stream);

/* ---- access.c ---- */

/* Whether the stream's last check is recent enough for an event, at hub->now_ms. */
bool access_is_fresh(const struct event_hub *hub, const struct event_stream *stream);
/* Checks the streams whose last check is too old, ends those without a valid token, and takes away the topics that
 * their users may not read. If PostgreSQL does not answer, nothing changes and the result is -1. */
int access_check(struct event_hub *hub, const struct stream_list *list);
/* A permission in a place, for one stream. */
struct access_question {
	const struct event_stream *stream;
	enum permission permission;
	struct place place;
};
/* Reads what access_may needs for these questions. */
int access_prepare(struct event_hub *hub, const struct access_question *questions, size_t count);
bool access_may(const struct event_hub *hub, const struct access_question *question);
void access_changed(struct event_hub *hub);

/* ---- delivery.c ---- */

/* An event and the position after it. Both are borrowed. */
struct delivered {
	const struct event *event;
	const char *cursor;
	int partition;
	int64_t offset;
};
/* Sends the events to their subscribers. */
void deliver(struct event_hub *hub, const struct delivered *events, size_t count);
/* Sends what has happened since the stream's position, or a reset. */
void deliver_since(struct event_hub *hub, struct event_stream *stream);

/* ---- feed.c ---- */

/* Reads the topic. The feed calls deliver, and feed_changed when it goes online or offline. */
int feed_start(struct event_hub *hub, const struct kafka_settings *kafka, struct err *err);
void feed_stop(struct feed *feed);
/* Once a second. */
void feed_serve(struct event_hub *hub);
void feed_changed(struct event_hub *hub, bool online, bool lost);

/* ---- tails.c ---- */

struct tails *tails_new(struct event_hub *hub);
void tails_free(struct tails *tails);
/* The log has a subscriber. */
void tails_watch(struct event_hub *hub, const char *operation_id);
/* From any thread: the log has grown. */
void tails_grew(struct tails *tails, const char *operation_id);
/* Once a second: looks at the watched logs, which may be stored by other schedulers. */
void tails_serve(struct event_hub *hub);

#endif
