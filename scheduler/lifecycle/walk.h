/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_WALK_H
#define SCHEDULER_LIFECYCLE_WALK_H

/* Enumerates every reachable run by stepping from creation with every event: for the tests and the page of states. */

#include "scheduler/lifecycle/run.h"

/* Called for each accepted step. */
typedef void (*walk_fn)(void *data, const struct run *from, const struct run_event *event, const struct verdict *v);

/* Steps from `first` until no new run is reached. Returns the number of different runs. */
size_t lifecycle_walk(const struct run *first, walk_fn fn, void *data);

/* Returns the page of states (STATES.md): tables and a drawing. The caller frees it. */
char *lifecycle_page(void);

#endif
