/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_LOOSE_H
#define SCHEDULER_STORE_CONTENT_LOOSE_H

/* Deletes unreferenced blobs. Triggers record a blob when a row stops referring to it (table loose_blobs). */

#include "scheduler/store/store.h"

/* Checks a batch of due blobs. *ret_count: how many were checked; there may be more if it is LOOSE_MOST. */
enum { LOOSE_MOST = 500 };
int loose_blobs_sweep(struct store *store, long long *ret_count, struct err *err);

#endif
