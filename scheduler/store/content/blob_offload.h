/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_BLOB_OFFLOAD_H
#define SCHEDULER_STORE_CONTENT_BLOB_OFFLOAD_H

/*
 * Moves content from PostgreSQL to the object store, and deletes objects.
 *
 * An object's key is in object_removals before it is written and until a blob refers to it, and again after that blob
 * is deleted. So no row ever refers to an object that is not complete, and no object leaks: objects that a crash leaves
 * behind are deleted when their entry is due. No transaction is open during a call to the object store.
 */

#include "scheduler/store/store.h"

struct objects;

/* Moves a batch of blobs that are large and old enough. *ret_count: how many were claimed; there may be more if it is
 * OFFLOADS_MAX. ERR_UNAVAILABLE if the object store does not accept them; they stay in PostgreSQL. */
enum { OFFLOADS_MAX = 16 };
int blob_offload_run(struct store *store, struct objects *objects, long long *ret_count, struct err *err);
/* Deletes a batch of objects that are due; there may be more if *ret_count is MAX_REMOVALS. */
enum { MAX_REMOVALS = 50 };
int removals_run(struct store *store, struct objects *objects, long long *ret_count, struct err *err);

#endif
