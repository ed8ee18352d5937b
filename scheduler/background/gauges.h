/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_BACKGROUND_GAUGES_H
#define SCHEDULER_BACKGROUND_GAUGES_H

/* The metrics that are read from PostgreSQL: while /metrics is read, by every replica. Each statement reads a bounded
 * number of rows for each pool or live run, by an index. */

#include "scheduler/store/store.h"

/* Pools: jobs, slots and workers. Also drops the counters of deleted pools. */
int gauges_pools(struct store *store, struct err *err);
/* The whole site: runs, run tasks, messages, holds, processes, keys, the schema. */
int gauges_site(struct store *store, struct err *err);

/* The events that collectors of the audit trail lack. */
int gauges_audit(struct store *store, struct err *err);

/* Records for each pool with waiting jobs since when it has free slots. Not a metric itself: claims read it for
 * runyard_job_starts_total, so it runs whether or not /metrics is read. */
int capacity_record(struct store *store, struct err *err);

#endif
