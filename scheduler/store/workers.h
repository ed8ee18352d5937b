/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_H
#define SCHEDULER_STORE_WORKERS_H

/* Workers as they say they are, and the leases that their heartbeats renew. */

#include "common/ids.h"
#include "common/json.h"
#include "scheduler/store/store.h"

struct worker_arrival {
	const char *pool_id, *name, *version;
	int slots;
};
int worker_register(struct store *store, const struct worker_arrival *arrival, struct id *ret_id, struct err *err);

struct worker_beat {
	const char *pool_id, *worker_id;
	int free, slots;
	bool draining;
	const json_t *partitions; /* an array of numbers */
	const json_t *jobs;       /* an array of {job, attempt} */
};
/* Renews the leases of the jobs it still has, all with one statement. *ret_jobs says of each whether it is held and
 * whether it is to stop. ERR_NOT_FOUND if the worker is not known. */
int worker_beat(struct store *store, const struct worker_beat *beat, json_t **ret_jobs, struct err *err);
/* Forgets a worker that drained. */
int worker_leave(struct store *store, const char *pool_id, const char *worker_id, struct err *err);

#endif
