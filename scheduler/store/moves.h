/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_MOVES_H
#define SCHEDULER_STORE_MOVES_H

/*
 * Moving content from PostgreSQL to the object store, and deleting objects.
 *
 * An object's key stands in object_removals from before it is written until a blob points at it, and again from when
 * that blob goes. So no row ever names an object that was not written whole, and no object is forgotten: what a crash
 * leaves half-way is deleted when its time has come. No transaction is open during a call to the object store.
 */

#include "scheduler/store/store.h"

/* Moves some of what is large and old enough. *ret_count: how many were taken up; there may be more if it is
 * MOVES_MOST. ERR_UNAVAILABLE if the object store does not take them; they stay where they are. */
enum { MOVES_MOST = 16 };
int moves_run(struct store *store, long long *ret_count, struct err *err);
/* Deletes some objects that are due; REMOVALS_MOST likewise. */
enum { REMOVALS_MOST = 50 };
int removals_run(struct store *store, long long *ret_count, struct err *err);

#endif
