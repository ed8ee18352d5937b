/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_WORKERS_H
#define SCHEDULER_STORE_WORKERS_WORKERS_H

/* Worker registrations and leases. store/workers/agents.h has the API's view of workers. */

#include "common/ids.h"
#include "common/json/json.h"
#include "scheduler/store/store.h"

struct worker_arrival {
	const char *pool_id, *name, *version;
	const char *address;  /* the address from which it is registered */
	const char *token_id; /* the agent token used for the registration */
	int slots, protocol;
	const json_t *capabilities; /* proto/capabilities.h; NULL: a worker of an earlier version */
	const json_t *jobs;         /* {job, attempt, token} of the attempts that the worker continues; or NULL */
};
/* Registers a worker, and creates its own token, which the caller frees. The worker reports with this token, even after
 * the agent token was revoked. Attempts of this pool whose tokens it presents are assigned to it, and their leases are
 * renewed. */
int worker_register(struct store *store, const struct worker_arrival *arrival, struct id *ret_id, char **ret_token,
	struct err *err);
/* Columns pool_id and jobs: pools with the number of their jobs that have waited for that time, at most 64 of each.
 * Jobs that quotas leave no room for do not count. */
int workers_still_waiting(struct db *db, int still_ms, struct rows *ret_rows, struct err *err);
/* Records the worker's number of free slots. *ret_jobs: a job of the pool waits that its quotas leave room for,
 * of a stage that the worker takes. ERR_NOT_FOUND if the worker is not (or
 * no longer) registered in the pool. */
struct worker_wait {
	const char *pool_id, *worker_id;
	int free; /* slots */
};
int worker_waits_for(struct store *store, const struct worker_wait *wait, bool *ret_jobs, struct err *err);
/* Finds the worker with that token of its own. ERR_NOT_FOUND if it is not (or no longer) registered. */
int worker_find(struct store *store, const char *token, struct id *ret_id, struct err *err);

struct worker_beat {
	const char *token; /* the worker's own */
	int free, slots;
	int undelivered; /* ended jobs whose result or last state the scheduler lacks */
	bool draining;
	const json_t *partitions;   /* an array of numbers */
	const json_t *jobs;         /* an array of {job, attempt}; for applies with more members (runs/epoch.h) */
	const json_t *capabilities; /* as at registration */
	const json_t *announced;    /* an array of the ids of jobs; NULL: a worker of an earlier version */
};
/* Renews the leases of the jobs that the worker still has, all with one statement. *ret_answer has the order to the
 * worker (store/workers/draining.h), for each of the `jobs` whether the worker holds it and whether it must stop, and
 * which of the announced jobs are not waiting jobs of the worker's pool. ERR_NOT_FOUND if the worker is not registered.
 */
int worker_beat(struct store *store, const struct worker_beat *beat, json_t **ret_answer, struct err *err);
/* The capabilities of the pool's other live workers, drained ones included: an array without duplicates, with null for
 * workers of earlier versions. After an absence, silent workers are live, too (lease_grace.h). */
int workers_capabilities(
	struct store *store, const char *pool_id, const char *worker_id, json_t **ret_others, struct err *err);
/* The attempts that their workers must stop: columns worker_id, id (the job's), attempt, stop. */
int workers_stops(struct db *db, struct rows *ret_rows, struct err *err);
struct worker_departure {
	const char *worker_id;
	bool failed;     /* it was forced to stop at once */
	int undelivered; /* as in a heartbeat */
};
/* Marks the worker as gone. */
int worker_leave(struct store *store, const struct worker_departure *departure, struct err *err);

#endif
