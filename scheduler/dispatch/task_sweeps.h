/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_TASK_SWEEPS_H
#define SCHEDULER_DISPATCH_TASK_SWEEPS_H

/* For the sweeper: what became of run tasks and notifications that nobody reported, so that none hangs for ever. */

#include "scheduler/store/store.h"

/* Requests whose notifier went away, and those announced to a broker that forgot, are announced again. */
int sweep_task_requests(struct store *store, struct err *err);
/* The same for notifications; those that no notifier sent in time are given up. */
int sweep_notifications(struct store *store, struct err *err);
/* Deadlines that no notifier told of, requests that no notifier sent, and reports whose message was lost. */
int sweep_task_deadlines(struct store *store, struct err *err);

#endif
