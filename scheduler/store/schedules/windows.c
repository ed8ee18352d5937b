/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/schedules/windows.h"

#include "scheduler/store/schedules/schedules.h"
#include "scheduler/store/schedules/windows.sql.h"

int maintenance_windows_list(struct store *store, const struct window_owner *owner, struct list_range range,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, maintenance_windows_list, .organization_id = owner->organization_id,
		.project_id = owner->project_id, .workspace_id = owner->workspace_id, .limit = range.limit,
		.offset = range.offset);
}

int maintenance_window_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, maintenance_window_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "maintenance window not found");
}

struct creation {
	struct store *store;
	const struct window_owner *owner;
	const struct maintenance_window *window;
	struct id id;
};

static int create_in(void *data, struct err *err)
{
	const struct creation *c = data;
	const struct maintenance_window *w = c->window;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (time_zone_check(c->store, w->time_zone, err) < 0 ||
		db_query(c->store->db, NULL, err, maintenance_window_lock,
			.organization_id = c->owner->organization_id) < 0 ||
		db_query(c->store->db, &rows, err, maintenance_window_create, .id = c->id.text,
			.organization_id = c->owner->organization_id, .project_id = c->owner->project_id,
			.workspace_id = c->owner->workspace_id, .name = w->name, .days = (long long)w->days,
			.start_minute = w->start_minute, .duration_minutes = w->duration_minutes,
			.time_zone = w->time_zone, .max = MAX_WINDOWS) < 0)
		return -1;
	if (db_affected(&rows))
		return 0;
	return err_at(err, "/data", "There can't be more than %d maintenance windows in one place", MAX_WINDOWS);
}

int maintenance_window_create(struct store *store, const struct window_owner *owner,
	const struct maintenance_window *window, struct id *ret_id, struct err *err)
{
	struct creation creation = {store, owner, window, id_new("mw")};

	if (db_transaction(store->db, create_in, &creation, err) < 0)
		return -1;
	*ret_id = creation.id;
	return 0;
}

int maintenance_window_update(
	struct store *store, const char *id, const struct maintenance_window *window, struct err *err)
{
	if (time_zone_check(store, window->time_zone, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, maintenance_window_update, .id = id, .name = window->name,
		.days = (long long)window->days, .start_minute = window->start_minute,
		.duration_minutes = window->duration_minutes, .time_zone = window->time_zone);
}

int maintenance_window_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, maintenance_window_delete, .id = id);
}
