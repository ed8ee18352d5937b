/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_CREATIONS_H
#define SCHEDULER_API_RUNS_CREATIONS_H

/* POST /runs. The handler reads what to create and checks the permission. The batch creates all queued runs in one
 * transaction, with their audit events (runs/run_create.h). */

#include "scheduler/http/batch.h"

extern const struct batch batch_runs;

#endif
