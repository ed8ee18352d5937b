/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENTS_H
#define SCHEDULER_STORE_CONTENTS_H

/*
 * What one request needs of the object store. Nothing waits for the network while it holds a transaction, a lock or one
 * of the threads that answer everybody: who reads a blob whose bytes are an object, and does not have them here, notes
 * the object as wanted and fails with ERR_UNAVAILABLE. The server then fetches it in a thread of its own and has the
 * request handled again from its start (api/server.c).
 */

#include "scheduler/store/objects.h"

struct content;

struct contents {
	struct object_part wanted; /* an empty key: nothing */
	struct object_part gone;   /* that was not there when it was fetched */
	struct content *have;
	size_t count;
};

void contents_release(struct contents *contents);
/* The part's bytes, borrowed, or NULL, and it is wanted. contents may be NULL: then nothing is here. */
const struct buf *contents_find(struct contents *contents, const struct object_part *part);
/* Fetches what is wanted; afterwards nothing is. ERR_UNAVAILABLE; ERR_INTERNAL if the object store has lost it. */
int contents_fetch(struct contents *contents, struct objects *objects, struct err *err);

#endif
