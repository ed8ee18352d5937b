/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKERS_DRAINING_H
#define SCHEDULER_STORE_WORKERS_DRAINING_H

/*
 * Orders of operators to workers and pools. A drained worker claims no jobs and finishes those that it has; a worker
 * that was told to leave also exits then, with status 0. A drained pool drains all of its workers, also those that
 * register later. The claim enforces an order from its commit on; the worker learns of it with its next heartbeat.
 */

#include "scheduler/store/store.h"

enum worker_order { ORDER_NONE, ORDER_DRAIN, ORDER_LEAVE };

/* "none", "drain" or "leave". */
const char *worker_order_name(enum worker_order order);

/* ORDER_NONE resumes. ERR_CONFLICT if the worker has left. */
int worker_order_set(struct store *store, const char *worker_id, enum worker_order order, struct err *err);
/* The same for all workers of the pool that have not left. */
int workers_order_all(struct store *store, const char *pool_id, enum worker_order order, struct err *err);
int pool_drain_set(struct store *store, const char *pool_id, bool drained, struct err *err);

#endif
