/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/store.h"

#include "scheduler/store/store.sql.h"

int store_installation(struct db *db, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(db, &rows, err, store_installation) < 0)
		return -1;
	if (rows.count != 1)
		return err_set(err, ERR_INTERNAL, "the table installation must have one row and has %d: restore it",
			rows.count);
	text_copy(ret_id->text, sizeof(ret_id->text), row_of(store_installation, &rows, 0)->id);
	return 0;
}

int store_backup_mark(struct db *db, struct err *err)
{
	return db_query(db, NULL, err, store_backup_mark);
}
