/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/site_status.h"

#include "scheduler/store/site_status.sql.h"

enum { MAX_POOLS = 200 };

int status_processes(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, site_status_processes);
}

int status_pools(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, site_status_pools, .max_pools = MAX_POOLS);
}

int status_totals(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, site_status_totals);
}
