/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_TRIGGERS_H
#define SCHEDULER_DISPATCH_TRIGGERS_H

/* What follows from an apply in other workspaces (store/run_triggers.h). */

#include "scheduler/dispatch/happen.h"

/*
 * Queues a run in every workspace that a trigger connects to a run which these items applied: in the transaction that
 * applies it, so once and for certain. A workspace that can't have one (it runs elsewhere, or has no configuration)
 * gets none; the applied run's events say so.
 */
int triggers_fire(struct store *store, const struct happening *items, size_t count, struct err *err);

#endif
