/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_SCHEDULES_WINDOWS_H
#define SCHEDULER_STORE_SCHEDULES_WINDOWS_H

/*
 * Maintenance windows: weekly times in which applies may start. Those of a workspace replace those of its project,
 * which replace those of the organization. Rows are maintenance_window_row.
 */

#include "scheduler/store/store.h"

enum { MAX_WINDOWS = 20, MAX_WINDOW_NAME = 90, DAY_MINUTES = 1440 };

/* The owner of windows: the organization, one of its projects or one of its workspaces. */
struct window_owner {
	const char *organization_id;
	const char *project_id, *workspace_id; /* NULL: not of one */
};

struct maintenance_window {
	const char *name, *time_zone;
	unsigned days;                            /* bits, from Sunday */
	long long start_minute, duration_minutes; /* of the local day */
};

/* The oldest first, with `total`; a row with a null id if the page is empty. */
int maintenance_windows_list(struct store *store, const struct window_owner *owner, struct list_range range,
	struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int maintenance_window_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID for an unknown time zone, and if the owner has the maximum number. Waiting runs are checked again after
 * each change (background/schedules/windows.h). */
int maintenance_window_create(struct store *store, const struct window_owner *owner,
	const struct maintenance_window *window, struct id *ret_id, struct err *err);
int maintenance_window_update(
	struct store *store, const char *id, const struct maintenance_window *window, struct err *err);
int maintenance_window_delete(struct store *store, const char *id, struct err *err);

#endif
