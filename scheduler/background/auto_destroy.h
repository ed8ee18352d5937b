/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_AUTO_DESTROY_H
#define SCHEDULER_BACKGROUND_AUTO_DESTROY_H

/* Destroys the resources of workspaces at a set time (auto-destroy-at), or at a set time after their last change
 * (auto-destroy-activity-duration). */

#include "scheduler/store/store.h"

/*
 * Queues a destroy run with auto-apply in each workspace whose time has come and that manages resources. It queues one
 * run, whichever scheduler comes first.
 *
 *  - Afterwards, a fixed time is cleared.
 *  - It is also cleared if the workspace cannot have such a run: it must not be destroyed, runs elsewhere, or has no
 *    configuration. An audit event records that.
 *  - A workspace without resources keeps its time while a run is in progress or queued, or while it is held: it may
 *    get resources. It is looked at again a minute later.
 *  - If a workspace fails for any other reason, it keeps its time, and is tried again a minute later.
 */
int auto_destroy_sweep(struct store *store, struct err *err);

#endif
