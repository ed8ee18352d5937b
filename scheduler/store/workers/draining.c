/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/draining.h"

static const char *const names[] = {[ORDER_NONE] = "none", [ORDER_DRAIN] = "drain", [ORDER_LEAVE] = "leave"};

const char *worker_order_name(enum worker_order order)
{
	return names[order];
}

int worker_order_set(struct store *store, const char *worker_id, enum worker_order order, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "update workers set ordered = nullif($2, 'none') where id = $1 and left_at is null",
		    P_TEXT(worker_id), P_TEXT(worker_order_name(order))) < 0)
		return -1;
	return db_affected(&rows) ? 0 : err_set(err, ERR_CONFLICT, "the agent has left");
}

int workers_order_all(struct store *store, const char *pool_id, enum worker_order order, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update workers set ordered = nullif($2, 'none') where pool_id = $1 and left_at is null",
		P_TEXT(pool_id), P_TEXT(worker_order_name(order)));
}

int pool_drain_set(struct store *store, const char *pool_id, bool drained, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update agent_pools set drained_at = case when $2 then coalesce(drained_at, now()) end where id = $1",
		P_TEXT(pool_id), P_BOOL(drained));
}
