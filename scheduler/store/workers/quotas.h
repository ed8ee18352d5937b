/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_QUOTAS_H
#define SCHEDULER_STORE_WORKERS_QUOTAS_H

/*
 * Quotas: how many runs of an organization, or in a pool, are worked on at a time. A run is worked on while a worker
 * has its job, in any stage. A run that waits for a person or a run task does not count.
 *
 * The claim (runs/claim.c) enforces them. Without quotas it reads an empty table and nothing else.
 */

#include "scheduler/store/store.h"

enum { MAX_QUOTA = 1000000 };

/* The owner of a quota: one of the two ids is not NULL. */
struct quota_owner {
	const char *organization_id, *pool_id;
};
/* 0: none. */
int quota_set(struct store *store, const struct quota_owner *owner, long long runs, struct err *err);

/* In the transaction of a claim: locks the quotas of the pool and of the organizations, so that no other claim counts
 * at the same time, and then reads the room of each: columns organization_id (null: the pool's) and room. */
int quotas_lock(struct store *store, const char *pool_id, struct db_array *organizations, struct rows *ret_rows,
	struct err *err);

#endif
