/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/blob_gc.h"

#include "scheduler/store/content/blob_gc.sql.h"

int blob_gc_sweep(struct store *store, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, blob_gc_sweep, .max = UNUSED_BLOBS_MAX) < 0)
		return -1;
	*ret_count = row_of(blob_gc_sweep, &rows, 0)->looked;
	return 0;
}
