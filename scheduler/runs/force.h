/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_FORCE_H
#define SCHEDULER_RUNS_FORCE_H

#include "scheduler/store/store.h"

/*
 * Moves a pending run to the front of its workspace's queue: discards the current run and all runs queued before it.
 * ERR_NOT_FOUND for an unknown run. ERR_FORBIDDEN unless the run is pending in its queue and a run holds the workspace.
 * ERR_CONFLICT if one of those cannot be discarded now, the workspace is held for a lost apply, or a person has locked
 * it.
 */
int run_force(struct store *store, const char *run_id, const char *actor, struct err *err);

#endif
