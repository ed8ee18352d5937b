/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_H
#define SCHEDULER_STORE_WORKERS_H

/* Workers as they say they are, and the leases that their heartbeats renew. What people see of them: agents.h. */

#include "common/ids.h"
#include "common/json.h"
#include "scheduler/store/store.h"

struct worker_arrival {
	const char *pool_id, *name, *version;
	const char *address;  /* of who registers it */
	const char *token_id; /* of the agent token that it registers with */
	int slots;
	const json_t *capabilities; /* proto/capabilities.h; NULL: an earlier version's */
	const json_t *jobs;         /* {job, attempt, token} of the attempts that it goes on with; or NULL */
};
/* Makes the worker's own token too, which the caller frees: with it a worker says what it does, also when the token
 * that it was started with holds no more. The attempts of this pool whose token it has are its own from then on, and
 * their leases are renewed. */
int worker_register(struct store *store, const struct worker_arrival *arrival, struct id *ret_id, char **ret_token,
	struct err *err);
/* Whether a job of the pool waits, for one that has so many slots free. ERR_NOT_FOUND if it is not known there (any
 * more). */
int worker_waits_for(
	struct store *store, const char *pool_id, const char *worker_id, int free, bool *ret_jobs, struct err *err);
/* The worker with that token of its own. ERR_NOT_FOUND if it is not known (any more). */
int worker_find(struct store *store, const char *token, struct id *ret_id, struct err *err);

struct worker_beat {
	const char *token; /* the worker's own */
	int free, slots;
	bool draining;
	const json_t *partitions;   /* an array of numbers */
	const json_t *jobs;         /* an array of {job, attempt}; of applies with more (dispatch/epoch.h) */
	const json_t *capabilities; /* as at its arrival */
};
/* Renews the leases of the jobs it still has, all with one statement. *ret_jobs says of each whether it is held and
 * whether it is to stop. ERR_NOT_FOUND if the worker is not known. */
int worker_beat(struct store *store, const struct worker_beat *beat, json_t **ret_jobs, struct err *err);
/* The capabilities of the pool's live workers besides this one: an array without duplicates, with null for those of
 * earlier versions. */
int workers_capabilities(
	struct store *store, const char *pool_id, const char *worker_id, json_t **ret_others, struct err *err);
/* It has drained and takes nothing more, or was made to stop at once (failed). */
int worker_leave(struct store *store, const char *worker_id, bool failed, struct err *err);

#endif
