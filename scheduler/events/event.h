/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_EVENTS_EVENT_H
#define SCHEDULER_EVENTS_EVENT_H

/*
 * Messages of runyard.events as events for clients: server-sent events without ids. A message comes from the broker, so
 * it may be forged: ids must have the form of ids, and all other texts are bounded and are sent as JSON. Pure.
 */

#include "common/buf.h"
#include "common/ids.h"
#include "common/json/json.h"
#include "scheduler/rights/rights.h"

struct event {
	/* The objects whose topics have the event. An empty id: none. */
	struct id organization, workspace, run;
	enum permission permission; /* that a receiver needs in the workspace or the organization */
	bool changes_access;        /* permissions, members, tokens or sessions may have changed */
	struct id suspended;        /* a user whose access has ended: their streams end at once */
	struct buf text;            /* "": it is not shown */
};

/* NULL if the message is not of a known form. */
struct event *event_of_message(const char *bytes, size_t len);
/* NULL-safe. */
void event_free(struct event *event);
/* The memory that it takes. */
size_t event_bytes(const struct event *event);

/* Appends "event: <name>\ndata: <data>\n". Takes the data. */
void event_write(struct buf *out, const char *name, json_t *data);

#endif
