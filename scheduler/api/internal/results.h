/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INTERNAL_RESULTS_H
#define SCHEDULER_API_INTERNAL_RESULTS_H

/* POST jobs/:job/result: the results of jobs whose workers can't reach the broker (runs/reports.h). */

#include "scheduler/http/batch.h"

extern const struct batch batch_results;

#endif
