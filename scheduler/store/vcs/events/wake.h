/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_WAKE_H
#define SCHEDULER_STORE_VCS_EVENTS_WAKE_H

#include "scheduler/store/store.h"

#define VCS_CHANNEL "runyard_vcs"

/* Wakes the VCS threads (background/vcs/events.h) of all schedulers when the transaction has committed. */
int vcs_wake(struct store *store, struct err *err);

#endif
