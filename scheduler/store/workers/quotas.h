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

/* The quota of an organization or of a pool; the other id is NULL. -1: none. */
struct quota_owner {
	const char *organization_id, *pool_id;
};
int quota_set(struct store *store, const struct quota_owner *owner, long long runs, struct err *err);

#endif
