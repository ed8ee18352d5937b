/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_ASSESSMENTS_H
#define SCHEDULER_BACKGROUND_ASSESSMENTS_H

/* Makes the health assessments (runs/assessments/assessments.h) that are due, and evaluates those that have ended. */

#include "scheduler/store/store.h"

/* Cancels assessments whose workspaces or slots others need, evaluates ended ones, and begins assessments in each pool
 * that has room. */
int assessments_sweep(struct store *store, struct err *err);

#endif
