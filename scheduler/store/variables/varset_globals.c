/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/varset_globals.h"

#include "scheduler/store/variables/varset_globals.sql.h"

static int globals_check(struct store *store, const char *id, const char *organization_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct varset_globals_conflict_row *conflict;

	if (db_query(store->db, NULL, err, varset_globals_lock, .organization_id = organization_id) < 0 ||
		db_query(store->db, &rows, err, varset_globals_conflict, .id = id, .organization_id = organization_id) <
			0)
		return -1;
	if (!rows.count)
		return 0;
	conflict = row_of(varset_globals_conflict, &rows, 0);
	return err_at(err, "/data/attributes/key", "Key %.128s is in the global variable set %.128s already",
		conflict->key, conflict->name);
}

int varset_touch(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct varset_touch_row *set;

	if (db_query(store->db, &rows, err, varset_touch, .id = id) < 0)
		return -1;
	set = rows.count ? row_of(varset_touch, &rows, 0) : NULL;
	return set && set->global ? globals_check(store, id, set->organization_id, err) : 0;
}
