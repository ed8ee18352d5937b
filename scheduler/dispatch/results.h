/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_RESULTS_H
#define SCHEDULER_DISPATCH_RESULTS_H

/* What workers report: the results of jobs, many taken in with one transaction. */

#include "scheduler/dispatch/happen.h"
#include "scheduler/dispatch/intake.h"

/* For an intake of runyard.results. */
int results_settle(struct intake *intake, const struct kafka_message *messages, size_t count);

/* What a result means for its run. Borrows the result. */
struct happening result_happening(const struct job_result *result);

#endif
