/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CLOCK_WATCH_H
#define SCHEDULER_STORE_CLOCK_WATCH_H

/*
 * PostgreSQL's clock says when leases and deadlines end. It can step: by an operator, by NTP, or since another server
 * answers after a failover. A watch compares it with this process's own clock. After a step:
 *
 *  - every lease begins anew, so that no worker loses a job, and a dead worker is found after one lease;
 *  - deadlines of holds, run tasks and notifications, and the times of waiting work, move with the clock.
 *
 * Of several schedulers that see a step, one corrects the rows (clock_steps.count).
 */

#include "scheduler/lifecycle/clock_step.h"
#include "scheduler/store/store.h"

struct clock_watch {
	struct clock_reading last;
	bool known; /* there is a last reading */
	long long steps;
};

/* Reads the clock; corrects the rows if it stepped since the last reading. *ret_steady is false if it did, or if the
 * reading was too slow to tell: what was judged by PostgreSQL's clock since the last reading must then not be acted on.
 */
int clock_watch_look(struct clock_watch *watch, struct store *store, bool *ret_steady, struct err *err);

#endif
