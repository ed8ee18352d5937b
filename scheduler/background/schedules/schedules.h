/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_SCHEDULES_SCHEDULES_H
#define SCHEDULER_BACKGROUND_SCHEDULES_SCHEDULES_H

/*
 * Queues the runs of schedules (store/schedules/schedules.h). One transaction queues the runs of many schedules and
 * sets their next occurrences, under a lock of each schedule: each occurrence is used once, whichever scheduler comes
 * first.
 */

#include "scheduler/store/store.h"

/*
 * Uses the occurrences that are due:
 *  - The person who saved the schedule must have the rights that its run needs. Otherwise the schedule is stopped, with
 * an audit event and a notification.
 *  - An occurrence queues no run if it is more than an hour late (after an outage or maintenance), or if the
 *    workspace is locked or held, the previous run of the schedule has not ended, or the workspace can't have the run.
 *    The schedule's last-reason says so, and an audit event when the reason changes.
 *  - Several occurrences that passed count as one.
 *
 * A schedule that fails otherwise is tried again a minute later. Returns after about a second, so that other sweeps are
 * not delayed.
 */
int schedules_sweep(struct store *store, struct err *err);

#endif
