/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/registry/test_runs.h"

#include "scheduler/store/registry/test_runs.sql.h"

int test_run_read(
	struct store *store, const char *module_id, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, test_run_read, .module_id = module_id, .run_id = run_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "test run not found");
}

int test_runs_list(struct store *store, const char *module_id, const char *sources, struct list_range range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, test_runs_list, .module_id = module_id, .sources = sources,
		.limit = range.limit, .offset = range.offset);
}
