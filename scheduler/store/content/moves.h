/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_MOVES_H
#define SCHEDULER_STORE_CONTENT_MOVES_H

/*
 * Moves content from PostgreSQL to the object store, and deletes objects.
 *
 * An object's key is in object_removals before it is written and until a blob refers to it, and again after that blob
 * is deleted. So no row ever refers to an object that is not complete, and no object leaks: objects that a crash leaves
 * behind are deleted when their entry is due. No transaction is open during a call to the object store.
 */

#include "scheduler/store/store.h"

/* Moves a batch of blobs that are large and old enough. *ret_count: how many were claimed; there may be more if it is
 * MOVES_MOST. ERR_UNAVAILABLE if the object store does not accept them; they stay in PostgreSQL. */
enum { MOVES_MOST = 16 };
int moves_run(struct store *store, long long *ret_count, struct err *err);
/* Deletes a batch of objects that are due; there may be more if *ret_count is REMOVALS_MOST. */
enum { REMOVALS_MOST = 50 };
int removals_run(struct store *store, long long *ret_count, struct err *err);

#endif
