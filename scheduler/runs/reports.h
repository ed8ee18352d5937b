/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_REPORTS_H
#define SCHEDULER_RUNS_REPORTS_H

/* Results that workers send over HTTP, with the job's own token, when they cannot reach the broker. All waiting results
 * are applied in one transaction, like those of the topic (runs/results.h). */

#include "proto/messages.h"
#include "scheduler/store/store.h"

struct report {
	const char *job; /* the job that the token belongs to; borrowed. NULL: no result to apply */
	char token_hash[SHA256_HEX_SIZE];
	struct job_result result;

	/*
	 * Filled in.
	 *  - ERR_NONE: the result is applied, or it is late and need not be sent again.
	 *  - ERR_NOT_FOUND: no such attempt is known.
	 *  - ERR_INVALID: the result belongs to another job.
	 *  - ERR_UNAVAILABLE: the run's row refuses it (runs/results.h), and the worker has to send it again.
	 *  - ERR_CONFLICT: it is late, and the attempt's last state is awaited. The worker has to report that there is
	 *    no further state.
	 */
	struct err err;
};

/* If all together fail because of one of them, each is tried by itself. */
void reports_take(struct store *store, struct report *reports, size_t count);

#endif
