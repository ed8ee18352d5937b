/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/variables/varset_globals.h"

/* The lock serializes checks of an organization's global sets, so that each check sees all committed variables. */
static int globals_check(struct store *store, const char *id, const char *organization_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, NULL, err, "select 1 from organizations where id = $1 for no key update",
		    P_TEXT(organization_id)) < 0 ||
		db_query(store->db, &rows, err,
			"select v.key, o.name from variables v join varsets o on o.organization_id = $2 and o.global "
			"and o.id <> $1 join variables x on x.varset_id = o.id and x.key = v.key "
			"and x.category = v.category where v.varset_id = $1 order by v.key limit 1",
			P_TEXT(id), P_TEXT(organization_id)) < 0)
		return -1;
	if (!rows.count)
		return 0;
	return err_at(err, "/data/attributes/key", "Key %.128s is in the global variable set %.128s already",
		row_text(&rows, 0, "key"), row_text(&rows, 0, "name"));
}

int varset_touch(struct store *store, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "update varsets set updated_at = now() where id = $1 returning organization_id, global",
		    P_TEXT(id)) < 0)
		return -1;
	if (!rows.count || !row_bool(&rows, 0, "global"))
		return 0;
	return globals_check(store, id, row_text(&rows, 0, "organization_id"), err);
}
