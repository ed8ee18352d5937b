/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_ASSESSMENTS_H
#define SCHEDULER_BACKGROUND_ASSESSMENTS_H

/* Makes the health assessments (runs/assessments/assessments.h) that are due, and evaluates those that have ended. */

#include "scheduler/store/store.h"

enum { ASSESSMENTS_AT_ONCE = 100 };

/* Cancels assessments whose workspaces or slots others need, and begins assessments in each pool that has room. */
int assessments_sweep(struct store *store, struct err *err);
/* Evaluates at most ASSESSMENTS_AT_ONCE assessments that have ended. Blocks on the object store, which may be NULL. One
 * that fails is tried again by the next call. */
int assessments_evaluate(struct store *store, struct objects *objects, long long *ret_count, struct err *err);

#endif
