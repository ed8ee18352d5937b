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

/* SQL: the number of running jobs of an organization, or in a pool. Both are lookups in the index jobs_claimed; those
 * of an organization are in its own pools and in the shared one. */
#define ORGANIZATION_RUNNING(organization)                                                                             \
	"(select count(*) from agent_pools qp join jobs qj on qj.pool_id = qp.id where "                               \
	"coalesce(qp.organization_id, '') in (" organization ", '') and qj.organization_id = " organization            \
	" and qj.state like 'claimed') "
#define POOL_RUNNING(pool) "(select count(*) from jobs qj where qj.pool_id = " pool " and qj.state like 'claimed') "

/* SQL: whether the quota of the pool `p`, or of its organization, is used up. */
#define QUOTA_IS_USED(p)                                                                                               \
	"exists (" QUOTA_USED_OF("pool_id", p ".id", POOL_RUNNING) "union all " QUOTA_USED_OF(                         \
		"organization_id", p ".organization_id", ORGANIZATION_RUNNING) ") "
#define QUOTA_USED_OF(column, value, running)                                                                          \
	"select 1 from run_quotas q where q." column " = " value " and q.runs <= " running("q." column) " "

/* SQL: the organizations whose quotas are used up. Without quotas it reads nothing else. */
#define QUOTAS_USED_UP                                                                                                 \
	"select q.organization_id from run_quotas q where q.organization_id is not null and q.runs "                   \
	"<= " ORGANIZATION_RUNNING("q.organization_id")

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
