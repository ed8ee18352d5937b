/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_RESULTS_H
#define SCHEDULER_DISPATCH_RESULTS_H

/* The thread that takes in results: consume, decide, commit, many in one transaction; the offset after the commit. */

#include "common/kafka.h"
#include "scheduler/dispatch/happen.h"

struct results;

struct results_spec {
	struct store store; /* as the thread's own, but for the connection */
	const char *database_url;
	const struct kafka_settings *kafka;
};

int results_start(const struct results_spec *spec, struct results **ret_results, struct err *err);
/* Finishes the batch it is in, commits its offsets, leaves the group. */
void results_stop(struct results *results);

/* What a result means for its run. Borrows the result. */
struct happening result_happening(const struct job_result *result);

#endif
