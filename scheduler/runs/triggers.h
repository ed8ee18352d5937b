/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_TRIGGERS_H
#define SCHEDULER_RUNS_TRIGGERS_H

/*
 * Run triggers (store/runs/run_triggers.h): an apply in a source workspace creates a run in each target workspace. The
 * transaction that applies the source's run only records which targets are due, so no target can delay or fail it. A
 * sweep creates the runs, each in a transaction of its own, and tries those that fail again.
 */

#include "scheduler/runs/transition.h"

/* Records the targets of the runs that these items applied, in the transaction that applies them. */
int triggers_record(struct store *store, const struct run_transition *items, size_t count, struct err *err);

/*
 * Creates the runs that are due. The source run's events name each created run, or say why a target gets none: it was
 * deleted, runs elsewhere, or has no configuration. After any other failure the target stays due; the events say so
 * once.
 */
int triggers_sweep(struct store *store, struct err *err);

#endif
