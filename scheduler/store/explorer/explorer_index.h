/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_EXPLORER_EXPLORER_INDEX_H
#define SCHEDULER_STORE_EXPLORER_EXPLORER_INDEX_H

/*
 * Brings the explorer's rows of workspaces up to date, after the commit of a state or the end of a run. The writer only
 * adds a row to explorer_due. A workspace whose update fails, or whose scheduler is lost, is taken again after five
 * minutes.
 */

#include "scheduler/store/content/objects.h"
#include "scheduler/store/store.h"

/* Updates the workspaces that are behind. *ret_count: how many were taken; there may be more if it is
 * EXPLORER_INDEX_MAX. */
enum { EXPLORER_INDEX_MAX = 50 };
int explorer_index_due(struct store *store, struct objects *objects, long long *ret_count, struct err *err);

#endif
