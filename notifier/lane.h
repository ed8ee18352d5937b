/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_LANE_H
#define NOTIFIER_LANE_H

/*
 * One kind of report to the scheduler. What comes within a few milliseconds goes in one call; calls that fail are made
 * again until they succeed; what is told of one task result goes one call after the other, in its order within a lane.
 */

#include "common/buf.h"
#include "common/json/json.h"
#include "notifier/table.h"

struct notifier;
struct lane;

/* Embedded in what is reported; its owner keeps it until `answered`. */
struct lane_item {
	const char *key; /* the task result's id; borrowed */
	char *text;      /* one JSON object; owned */
	size_t len;
	bool canceled; /* by lane_cancel */
	struct table_entry under_way;
	struct lane_item *next;
};

/* Lanes that tell of the same task results: no two calls under way tell of the same one, since the scheduler would have
 * one of them wait for the other, or both for each other. All zero is none yet. */
struct lanes {
	struct table under_way; /* by task result */
	struct lane *first;
};

struct lane_spec {
	struct notifier *notifier;
	struct lanes *lanes; /* borrowed; it outlives the lane */
	const char *kind;    /* the path */
	const char *list;    /* the list's name in the call and in its answer */
	const char *member;  /* that an answer names its item by */
	void *data;
	/* The end of the item. `answer` is its part of the scheduler's answer, borrowed; NULL: the scheduler refuses
	 * the item, or it was canceled. The owner may free it or add it again. */
	void (*answered)(void *data, struct lane_item *item, const json_t *answer);
};

struct lane *lane_new(const struct lane_spec *spec);
/* Calls back, with NULL, for what is still in it. */
void lane_free(struct lane *lane);
/* Takes the text. */
void lane_add(struct lane *lane, struct lane_item *item, const char *key, char *text, size_t len);
/* It is not sent if it was not yet; `answered` is called for it in any case. */
void lane_cancel(struct lane *lane, struct lane_item *item);
/* How many items are in it, and their bytes. */
size_t lane_count(const struct lane *lane);
size_t lane_bytes(const struct lane *lane);

#endif
