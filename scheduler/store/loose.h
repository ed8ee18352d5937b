/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_LOOSE_H
#define SCHEDULER_STORE_LOOSE_H

/* Blobs that a row has stopped naming (the table's triggers note them): those that no other row names are deleted. */

#include "scheduler/store/store.h"

/* Looks at some of those that are due. *ret_count: how many; there may be more if it is LOOSE_MOST. */
enum { LOOSE_MOST = 500 };
int loose_blobs_sweep(struct store *store, long long *ret_count, struct err *err);

#endif
