/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/maintenance.h"

#include "scheduler/store/maintenance.sql.h"

#include <string.h>

int maintenance_read(struct store *store, struct maintenance *ret_maintenance, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct maintenance_read_row *row;

	if (db_query(store->db, &rows, err, maintenance_read) < 0)
		return -1;
	row = row_of(maintenance_read, &rows, 0);
	*ret_maintenance =
		(struct maintenance){.on = row->reason, .resuming = row->is_resuming, .changes = row->changes};
	text_copy(ret_maintenance->reason, sizeof(ret_maintenance->reason), text_or_empty(row->reason));
	text_copy(ret_maintenance->since, sizeof(ret_maintenance->since), row->since);
	return 0;
}

static int reason_check(const char *reason, struct err *err)
{
	size_t characters = 0;

	for (const char *at = reason; *at; at++) {
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			return err_at(err, "/data/attributes/reason", "Reason must be one line");
		characters += ((unsigned char)*at & 0xc0) != 0x80;
	}
	if (!*reason || strspn(reason, " ") == strlen(reason))
		return err_at(err, "/data/attributes/reason", "Reason can't be blank: runs that wait show it");
	if (characters > MAX_MAINTENANCE_REASON)
		return err_at(err, "/data/attributes/reason", "Reason is too long (maximum is %d characters)",
			MAX_MAINTENANCE_REASON);
	return 0;
}

int maintenance_set(struct store *store, const char *reason, struct err *err)
{
	if (reason && reason_check(reason, err) < 0)
		return -1;
	if (db_query(store->db, NULL, err, maintenance_lock_timeout) < 0 ||
		db_query(store->db, NULL, err, maintenance_lock) < 0)
		return err_context(err, "maintenance can't be switched now: try again");
	return db_query(store->db, NULL, err, maintenance_update, .reason = reason);
}

int maintenance_resumed(struct store *store, long long changes, struct err *err)
{
	return db_query(store->db, NULL, err, maintenance_resumed, .changes = changes);
}
