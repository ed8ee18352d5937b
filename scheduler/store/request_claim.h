/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REQUEST_CLAIM_H
#define SCHEDULER_STORE_REQUEST_CLAIM_H

/* A notifier's claim of requests. store/requests.h divides it between run tasks, notifications and calls of VCS
 * providers. */

#include "scheduler/store/store.h"

struct request_claim {
	const char *notifier;
	const char *callback_url; /* base of the callback URLs */
	const json_t *ids;        /* the requests to claim; empty: the oldest waiting ones */
	int max;
	bool calls;    /* the notifier is of a version that can send calls of VCS providers */
	bool forwards; /* the notifier is of a version that lets workers send requests */
};

#endif
