/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/audit/audit_exports.h"

#include "scheduler/background/audit/audit_exports.sql.h"

int audit_sink_register(struct store *store, const char *sink, struct err *err)
{
	return db_query(store->db, NULL, err, audit_sink_register, .sink = sink);
}

int audit_sink_hold(
	struct store *store, const char *sink, const char *holder, int seconds, bool *ret_held, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, audit_sink_hold, .sink = sink, .holder = holder, .seconds = seconds) < 0)
		return -1;
	*ret_held = rows.count > 0;
	return 0;
}

int audit_sink_release(struct store *store, const char *sink, const char *holder, struct err *err)
{
	return db_query(store->db, NULL, err, audit_sink_release, .sink = sink, .holder = holder);
}

int audit_unsent_any(struct store *store, const char *sink, bool *ret_any, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, audit_unsent_any, .sink = sink) < 0)
		return -1;
	*ret_any = rows.count > 0;
	return 0;
}

int audit_unsent_read(struct store *store, const char *sink, long long max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, audit_unsent_read, .sink = sink, .most = max);
}

int audit_unsent_done(struct store *store, const char *sink, const struct rows *rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array positions = DB_ARRAY_INIT;

	for (int i = 0; i < rows->count; i++)
		db_array_add_int(&positions, row_of(audit_unsent, rows, i)->position);
	return db_query(store->db, NULL, err, audit_unsent_delete, .sink = sink, .positions = &positions);
}

int audit_sink_note(struct store *store, const char *sink, const char *error, struct err *err)
{
	return db_query(store->db, NULL, err, audit_sink_note, .sink = sink, .error = error);
}

int audit_sinks_list(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, audit_sinks_list);
}

int audit_sink_end(struct store *store, const char *sink, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, audit_sink_end, .sink = sink) < 0)
		return -1;
	return rows.count ? 0 : err_set(err, ERR_NOT_FOUND, "there is no such export");
}
