/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_DELIVERIES_H
#define SCHEDULER_RUNS_VCS_DELIVERIES_H

/* Reads stored deliveries of providers, and makes events of them (store/vcs/events.h). */

#include "scheduler/store/store.h"

/* Reads the deliveries that are due, at most a batch, in one transaction. One that can't be read is marked as failed,
 * with the reason, and becomes an event of the level error. *ret_more: others may be due. */
int vcs_deliveries_read(struct store *store, bool *ret_more, struct err *err);

#endif
