/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_DUE_H
#define NOTIFIER_DELIVERY_DUE_H

/* A binary heap of timers, for thousands at once. The entries are embedded in their owners. */

#include "common/base.h"

struct due {
	int64_t at_ms; /* 0: not in the heap */
	size_t place;
};

struct due_heap {
	struct due **items; /* the earliest first */
	size_t count, room;
};

/* Adds the entry, or moves one that is in the heap. */
void due_set(struct due_heap *heap, struct due *due, int64_t at_ms);
void due_clear(struct due_heap *heap, struct due *due);
/* Removes and returns an entry that is due, or NULL. */
struct due *due_take(struct due_heap *heap, int64_t now_ms);
/* The time of the next entry, or -1. */
int64_t due_next(const struct due_heap *heap);
void due_release(struct due_heap *heap);

#endif
