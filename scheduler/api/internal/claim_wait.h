/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INTERNAL_CLAIM_WAIT_H
#define SCHEDULER_API_INTERNAL_CLAIM_WAIT_H

/* Suspends a worker's request until its pool has a job, or until the wait times out (outbox/claim_waiters.h). */

#include <stdint.h>

#include "scheduler/http/request.h"

struct claim_wait {
	const char *pool_id, *worker_id;
	uint64_t mark;           /* of claim_waiters_mark, from before the query for jobs */
	const char *some, *none; /* the answers with and without a job: constant JSON texts */
};
/* ERR_UNAVAILABLE if too many workers wait. */
int claim_wait(struct request *req, struct response *res, const struct claim_wait *wait, struct err *err);

#endif
