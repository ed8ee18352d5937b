/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_WAIT_NOTES_H
#define SCHEDULER_BACKGROUND_WAIT_NOTES_H

/*
 * Notes why runs wait: a run event and a line at the beginning of the log, once per run, stage and reason. Only reasons
 * of lifecycle/waiting/waits.def that last some seconds are noted.
 *
 * Each sweep looks at a bounded number of queued runs and of waiting jobs, and the next one goes on behind them. So its
 * cost does not grow with the queues.
 */

#include "scheduler/store/store.h"

int wait_notes_sweep(struct store *store, struct err *err);

#endif
