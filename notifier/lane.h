/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_LANE_H
#define NOTIFIER_LANE_H

/*
 * A queue of one kind of report to the scheduler. Reports that arrive within a few milliseconds are sent in one
 * call. Failed calls are repeated until they succeed. Calls about one task result are made one after the other;
 * within a lane they keep their order.
 */

#include "common/buf.h"
#include "common/json/json.h"
#include "notifier/table.h"

struct scheduler;
struct lane;

/* Embedded in a report. The owner keeps it until `answered` is called. */
struct lane_item {
	const char *key; /* the task result's id; borrowed */
	char *text;      /* one JSON object; owned */
	size_t len;
	bool canceled; /* by lane_cancel */
	struct table_entry under_way;
	struct lane_item *next;
};

/* Lanes that report on the same task results. No two calls in flight contain the same task result: in the scheduler
 * one would block the other, or both would deadlock. Zero-initialize it. */
struct lanes {
	struct table under_way; /* by task result */
	struct lane *first;
};

struct lane_spec {
	struct scheduler *scheduler; /* borrowed */
	struct lanes *lanes;         /* borrowed; it outlives the lane */
	const char *kind;            /* the path of the call */
	const char *list;            /* the name of the list in the call and in its answer */
	const char *member;          /* the member of an answer that names its item */
	void *data;
	/* The item is done. `answer` is its part of the scheduler's answer, borrowed. NULL: the scheduler refused
	 * the item, or it was canceled. The owner may free it or add it again. */
	void (*answered)(void *data, struct lane_item *item, const json_t *answer);
};

struct lane *lane_new(const struct lane_spec *spec);
/* Calls `answered` with NULL for every item left. */
void lane_free(struct lane *lane);
/* Takes `text`; borrows `key` and `item` until `answered`. */
void lane_add(struct lane *lane, struct lane_item *item, const char *key, char *text, size_t len);
/* An item that is not sent yet will not be sent. `answered` is called for it in any case. */
void lane_cancel(struct lane *lane, struct lane_item *item);
/* Returns the number of items, and their bytes. */
size_t lane_count(const struct lane *lane);
size_t lane_bytes(const struct lane *lane);

#endif
