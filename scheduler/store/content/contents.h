/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_CONTENTS_H
#define SCHEDULER_STORE_CONTENT_CONTENTS_H

/*
 * The objects of the object store that one request needs. No transaction, lock or request-serving thread waits for the
 * network:
 *  - A reader that needs an object which is not fetched yet records it as wanted and fails with ERR_UNAVAILABLE.
 *  - The server then fetches the object in a separate thread, and handles the request again from its start
 *    (api/server/executors.c).
 */

#include "scheduler/store/content/objects.h"

struct content;
struct store;

struct contents {
	struct object_part wanted; /* an empty key: none */
	struct object_part gone;   /* was missing at the last fetch */
	struct content *have;
	size_t count;
};

void contents_release(struct contents *contents);
/* The part's bytes, borrowed. If they are not fetched yet: NULL, and the part is recorded as wanted. contents may be
 * NULL: then nothing is fetched. */
const struct buf *contents_find(struct contents *contents, const struct object_part *part);
/* Fetches the wanted part, and resets it. ERR_UNAVAILABLE; ERR_INTERNAL if the object store has lost the object. */
int contents_fetch(struct contents *contents, struct objects *objects, struct err *err);
/* Calls `read` with a copy of the store until it has all objects that it wants, for a thread that may wait for the
 * network. ERR_TOO_LARGE if these are more than 256. *ret_lost is true if the object store has lost one of them; it
 * may be NULL. */
typedef int (*contents_read_fn)(struct store *reading, void *data, struct err *err);
int contents_read(const struct store *store, struct objects *objects, contents_read_fn read, void *data, bool *ret_lost,
	struct err *err);

#endif
