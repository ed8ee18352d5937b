/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_LIFECYCLE_WALK_H
#define SCHEDULER_LIFECYCLE_WALK_H

/* Every run that can come to be, found by stepping from creation with every event: for the tests and the drawing. */

#include "scheduler/lifecycle/run.h"

/* Called for each accepted step. */
typedef void (*walk_fn)(void *data, const struct run *from, const struct run_event *event, const struct verdict *v);

/* Steps from `first` until nothing new is reached. Returns how many different runs were seen. */
size_t lifecycle_walk(const struct run *first, walk_fn fn, void *data);

/* The page of states that stands beside the code (STATES.md): tables and a drawing. The caller frees it. */
char *lifecycle_page(void);

#endif
