/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/draining.h"

#include "scheduler/store/workers/draining.sql.h"

static const char *const names[] = {[ORDER_NONE] = "none", [ORDER_DRAIN] = "drain", [ORDER_LEAVE] = "leave"};

const char *worker_order_name(enum worker_order order)
{
	return names[order];
}

int worker_order_set(struct store *store, const char *worker_id, enum worker_order order, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, worker_order_set, .worker_id = worker_id,
		    .order_name = worker_order_name(order)) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_CONFLICT, "the agent has left");
}

int workers_order_all(struct store *store, const char *pool_id, enum worker_order order, struct err *err)
{
	return db_query(
		store->db, NULL, err, workers_order_all, .pool_id = pool_id, .order_name = worker_order_name(order));
}

int pool_drain_set(struct store *store, const char *pool_id, bool drained, struct err *err)
{
	return db_query(store->db, NULL, err, pool_drain_set, .pool_id = pool_id, .drained = drained);
}
