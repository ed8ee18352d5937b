/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/resumption.h"

#include "scheduler/background/resumption.sql.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/maintenance.h"

enum { MAX_RESUMED = 100 };

int resumption_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct sweep_failures failures = {0};
	struct maintenance maintenance;

	if (maintenance_read(store, &maintenance, err) < 0)
		return -1;
	if (!maintenance.resuming)
		return 0;
	if (db_query(store->db, &rows, err, resumption_due, .max = MAX_RESUMED) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const char *id = row_of(resumption_due, &rows, i)->workspace_id;
		struct err why = ERR_INIT;

		if (workspace_kick(store, id, &why) < 0 && sweep_failed(&failures, id, &why, err) < 0)
			return -1;
	}
	sweep_failures_note(&failures, "resumption");
	return rows.count ? 0 : maintenance_resumed(store, maintenance.changes, err);
}
