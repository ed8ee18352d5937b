/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/kinds.h"

int kind_read(struct store *store, const struct resource_kind *kind, struct db_array *ids, struct rows *ret_rows,
	struct err *err)
{
	db_gather(store->db);
	return db_gathered(store->db, kind->ask(store, ids, ret_rows, err), err);
}

int rows_show(
	struct store *store, const struct resource_kind *kind, const struct rows *rows, json_t *list, struct err *err)
{
	for (int i = 0; i < rows->count; i++) {
		json_t *resource = NULL;

		if (kind->show)
			resource = kind->show(row_cells(rows, i));
		else if (kind->make(store, row_cells(rows, i), &resource, err) < 0)
			return -1;
		json_array_append_new(list, resource);
	}
	return 0;
}
