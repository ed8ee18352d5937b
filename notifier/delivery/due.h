/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_DUE_H
#define NOTIFIER_DELIVERY_DUE_H

/* What waits for its time, thousands at once: a binary heap of entries that stand in their owners. */

#include "common/base.h"

struct due {
	int64_t at_ms; /* 0: not in the heap */
	size_t place;
};

struct due_heap {
	struct due **items; /* the next one first */
	size_t count, room;
};

/* An entry that waits already is moved. */
void due_set(struct due_heap *heap, struct due *due, int64_t at_ms);
void due_clear(struct due_heap *heap, struct due *due);
/* Takes out one whose time has come, or NULL. */
struct due *due_take(struct due_heap *heap, int64_t now_ms);
/* When the next one is due, or -1. */
int64_t due_next(const struct due_heap *heap);
void due_release(struct due_heap *heap);

#endif
