/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_TASK_SWEEPS_H
#define SCHEDULER_BACKGROUND_TASK_SWEEPS_H

/* Sweeps for run tasks and notifications that no notifier reported on, so that none stays open for ever. */

#include "scheduler/store/clock_watch.h"

/* Announces requests again whose notifier disappeared, or whose announcement the broker lost. */
int sweep_task_requests(struct store *store, struct err *err);
/* The same for notifications. Gives up those that no notifier sent in time. */
int sweep_notifications(struct store *store, struct err *err);
/* Decides deadlines that no notifier reported, requests that no notifier sent, and reports whose message was lost. */
int sweep_task_deadlines(struct store *store, struct clock_watch *clock, struct err *err);

#endif
