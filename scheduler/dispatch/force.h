/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_FORCE_H
#define SCHEDULER_DISPATCH_FORCE_H

#include "scheduler/store/store.h"

/*
 * Lets a pending run go before all others of its workspace: the current run and whatever waits before it are
 * discarded. ERR_FORBIDDEN unless it is pending in its queue and a run holds the workspace; ERR_CONFLICT if one of
 * those can't be discarded now, or a person has locked the workspace.
 */
int run_force(struct store *store, const char *run_id, const char *actor, struct err *err);

#endif
