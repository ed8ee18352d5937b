/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/access/watched_objects.h"

#include "scheduler/store/access/watched_objects.sql.h"

int watched_objects_find(
	struct store *store, struct db_array *kinds, struct db_array *names, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, watched_objects_find, .kinds = kinds, .names = names);
}
