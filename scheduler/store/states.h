/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_H
#define SCHEDULER_STORE_STATES_H

/*
 * State versions. State is never lost and never goes back (DESIGN rule 7): a state is accepted with the same lineage
 * as the current one and a serial that is not behind; under the same serial only from the same job, or with the same
 * content. An accepted state is the workspace's current one at once, in the caller's transaction.
 *
 * A job has one row: each later state of the same attempt takes the place of the one before.
 */

#include "scheduler/store/store.h"

struct state_offer {
	const char *workspace_id;
	const char *run_id;     /* or NULL */
	const char *job_id;     /* of the attempt that writes it; NULL: it came through the API */
	const char *created_by; /* user id, or NULL */
	const void *bytes;      /* the state file as terraform wrote it */
	size_t len;
	bool intermediate; /* more may follow from this attempt */
	bool recovered;    /* it came after the attempt had ended */
	bool force;        /* another lineage or a lower serial is let in (API only) */
};

struct state_accepted {
	struct id id;
	long long serial;
};

/* ERR_INVALID: no state of version 4. ERR_CONFLICT: lineage or serial. ret_accepted may be NULL. */
int state_accept(
	struct store *store, const struct state_offer *offer, struct state_accepted *ret_accepted, struct err *err);
/* The attempts' last states are final now. */
int states_settle(struct store *store, struct db_array *job_ids, struct err *err);
/* The content of the workspace's current state, appended. 0 with nothing appended if there is none. */
int state_current(struct store *store, const char *workspace_id, struct buf *out, struct err *err);

#endif
