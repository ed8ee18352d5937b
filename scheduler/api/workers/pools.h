/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKERS_POOLS_H
#define SCHEDULER_API_WORKERS_POOLS_H

#include "scheduler/api/api.h"

struct pool_use;

/* The pool in the path's `:pool`, if the actor has the route's permission: a row of store/workers/pools.h. */
int pool_in_path(struct request *req, struct rows *ret_rows, struct err *err);

/* The attribute `concurrent-run-limit` of the body: a quota (store/workers/quotas.h), 0 for none. *ret_limit stays as
 * it is if the attribute is absent. */
int body_run_limit(const struct request *req, long long *ret_limit, struct err *err);

/* The pool of a relationship of the body: *pool_id stays as it is if the relationship is absent, and is NULL if it is
 * null. ERR_INVALID with the sentence `refusal` at the relationship if the pool may not be used like that. */
int body_pool(const struct request *req, const char *relation, const struct pool_use *use, const char *refusal,
	const char **pool_id, struct err *err);

#endif
