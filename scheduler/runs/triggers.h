/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_TRIGGERS_H
#define SCHEDULER_RUNS_TRIGGERS_H

/*
 * Run triggers (store/runs/run_triggers.h): an apply in a source workspace creates a run in each target workspace. The
 * transaction that applies the source's run only records which targets are due (runs/transition.c), so no target can
 * delay or fail it. A sweep creates the runs, each in a transaction of its own, and tries those that fail again.
 */

#include "scheduler/store/store.h"

/*
 * Creates the runs that are due. The source run's events name each created run, or say why a target gets none: it was
 * deleted, runs elsewhere, or has no configuration. After any other failure the target stays due; the events say so
 * once.
 */
int triggers_sweep(struct store *store, struct err *err);

#endif
