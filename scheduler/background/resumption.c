/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/resumption.h"

#include "scheduler/background/resumption.sql.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/maintenance.h"

enum { MAX_RESUMED = 100 };

/* Workspaces whose queues may go on, and workspaces with plan-only runs. An hour after the end of the maintenance,
 * those that are left are broken ones: they are left to the sweep of queues that stand still. */
static int waiting_read(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, waiting_read, .max_resumed = MAX_RESUMED);
}

int resumption_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct sweep_failures failures = {0};
	struct maintenance maintenance;

	if (maintenance_read(store, &maintenance, err) < 0)
		return -1;
	if (!maintenance.resuming)
		return 0;
	if (waiting_read(store, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const char *id = row_of(waiting_read, &rows, i)->workspace_id;
		struct err why = ERR_INIT;

		if (workspace_kick(store, id, &why) < 0 && sweep_failed(&failures, id, &why, err) < 0)
			return -1;
	}
	sweep_failures_note(&failures, "resumption");
	return rows.count ? 0 : maintenance_resumed(store, maintenance.changes, err);
}
