/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/varset_globals.h"

#include "scheduler/store/variables/varset_globals.sql.h"

/* The lock serializes checks of an organization's global sets, so that each check sees all committed variables. */
static int globals_check(struct store *store, const char *id, const char *organization_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, NULL, err, globals_check_lock, .organization_id = organization_id) < 0 ||
		db_query(store->db, &rows, err, globals_check_read, .id = id, .organization_id = organization_id) < 0)
		return -1;
	if (!rows.count)
		return 0;
	return err_at(err, "/data/attributes/key", "Key %.128s is in the global variable set %.128s already",
		row_of(globals_check_read, &rows, 0)->key, row_of(globals_check_read, &rows, 0)->name);
}

int varset_touch(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, varset_touch, .id = id) < 0)
		return -1;
	if (!rows.count || !row_of(varset_touch, &rows, 0)->global)
		return 0;
	return globals_check(store, id, row_of(varset_touch, &rows, 0)->organization_id, err);
}
