/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CLOCK_WATCH_H
#define SCHEDULER_STORE_CLOCK_WATCH_H

/*
 * Detects steps of PostgreSQL's clock, which determines when leases and deadlines expire. An operator, NTP or a
 * failover to another server can cause a step. A watch compares this clock with the process's own. After a step:
 *
 *  - every lease is renewed, so that no worker loses a job; a dead worker is detected after one lease;
 *  - deadlines of holds, run tasks and notifications, and the times of waiting work, are shifted with the clock.
 *
 * If several schedulers see a step, one of them corrects the rows (clock_steps.count).
 */

#include "scheduler/lifecycle/clock_step.h"
#include "scheduler/store/store.h"

struct clock_watch {
	struct clock_reading last;
	bool known; /* `last` is valid */
	long long steps;
};

/* Reads the clock, and corrects the rows if it stepped since the last reading. *ret_steady is false if it did, or if
 * the reading was too slow to tell. Then discard decisions that were made by PostgreSQL's clock since the last
 * reading. */
int clock_watch_look(struct clock_watch *watch, struct store *store, bool *ret_steady, struct err *err);

#endif
