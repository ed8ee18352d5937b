/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_RESUMPTION_H
#define SCHEDULER_BACKGROUND_RESUMPTION_H

/* After maintenance, starts the runs that waited for its end (store/maintenance.h): the queues of workspaces, and
 * plan-only runs, some of both in each sweep. Does nothing at other times. */

#include "scheduler/store/store.h"

int resumption_sweep(struct store *store, struct err *err);

#endif
