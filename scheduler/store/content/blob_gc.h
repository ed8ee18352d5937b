/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_BLOB_GC_H
#define SCHEDULER_STORE_CONTENT_BLOB_GC_H

/* Deletes unreferenced blobs. Triggers record a blob when a row stops referring to it (table unused_blobs). */

#include "scheduler/store/store.h"

/* Checks a batch of due blobs. *ret_count: how many were checked; there may be more if it is UNUSED_BLOBS_MAX. */
enum { UNUSED_BLOBS_MAX = 500 };
int blob_gc_sweep(struct store *store, long long *ret_count, struct err *err);

#endif
