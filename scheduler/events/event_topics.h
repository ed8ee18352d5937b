/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_EVENTS_EVENT_TOPICS_H
#define SCHEDULER_EVENTS_EVENT_TOPICS_H

/* The topics that a client asks for: "org:<name>,workspace:<id>,run:<id>,log:<plan or apply id>@<offset>,site". Pure.
 */

#include "common/err.h"
#include "common/ids.h"
#include "scheduler/rights/rights.h"

enum { MAX_EVENT_TOPICS = 32, EVENT_TOPIC_NAME = 128 };

enum event_topic_kind {
	EVENTS_OF_ORGANIZATION,
	EVENTS_OF_WORKSPACE,
	EVENTS_OF_RUN,
	EVENTS_OF_LOG,
	EVENTS_OF_SITE,
	EVENT_TOPIC_KINDS
};

struct event_topic {
	enum event_topic_kind kind;
	char name[EVENT_TOPIC_NAME]; /* the organization's name, or an id; "" for the site */
	long long offset;            /* of a log: the next byte of its stream (store/runs/logs.h) */
	/* Filled by event_topics_find (store/events). Empty if there is no such object. */
	struct id object, organization, workspace;
};

struct event_topics {
	size_t count;
	struct event_topic items[MAX_EVENT_TOPICS];
};

/* ERR_MALFORMED names the topic that is wrong. A topic that is listed twice counts once. */
int event_topics_parse(const char *text, struct event_topics *ret_topics, struct err *err);
/* The topic as the client wrote it, without an offset. */
void event_topic_text(const struct event_topic *topic, char *ret_text, size_t size);
/* "org", "workspace", "run", "log", "site". */
const char *event_topic_word(enum event_topic_kind kind);
/* The permission that a client needs for the topic. */
enum permission event_topic_permission(enum event_topic_kind kind);

#endif
