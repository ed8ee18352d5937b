/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_REPORTS_H
#define SCHEDULER_DISPATCH_REPORTS_H

/* Results that workers give over HTTP, with the job's own token, where they do not reach the broker: all that wait are
 * taken in with one transaction, as those of the topic are (dispatch/results.h). */

#include "proto/messages.h"
#include "scheduler/store/store.h"

struct report {
	const char *job; /* whose token it is; borrowed. NULL: there is nothing to take in */
	char token_hash[SHA256_HEX_SIZE];
	struct job_result result;

	/* Filled in. ERR_NONE: it is taken in; or it comes too late, and need not come again. ERR_NOT_FOUND: no such
	 * attempt is known. ERR_INVALID: it is of
	 * another job. ERR_UNAVAILABLE: the run's row refuses it (dispatch/results.h), and it has to come again.
	 * ERR_CONFLICT: too late, and the attempt's last state is awaited: its worker has to say that
	 * there is no more. */
	struct err err;
};

/* If all together fail for a reason that lies in one of them, each is tried by itself. */
void reports_take(struct store *store, struct report *reports, size_t count);

#endif
