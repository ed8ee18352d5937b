/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_AUTO_DESTROY_H
#define SCHEDULER_DISPATCH_AUTO_DESTROY_H

/* Destroys the resources of workspaces at a set time (auto-destroy-at), or at a set time after their last change
 * (auto-destroy-activity-duration). */

#include "scheduler/store/store.h"

/*
 * Queues a run that destroys, and applies itself, in each workspace whose time has come and that manages anything:
 * once, whichever scheduler comes first. A time that was set is over with it; one that can't have such a run (it must
 * not be destroyed, runs elsewhere, or has no configuration) loses it too, and the audit trail says so. A workspace
 * that fails for any other reason keeps its time, and is tried again a minute later.
 */
int auto_destroy_sweep(struct store *store, struct err *err);

#endif
