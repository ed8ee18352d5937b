/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/schedules/windows.h"

#include "scheduler/background/sweep_failures.h"
#include "scheduler/background/schedules/windows.sql.h"
#include "scheduler/runs/transition.h"

enum { MAX_OPENED = 100 };

/* A transaction for each run, so that one that fails does not stop the others. */
static int window_open(struct store *store, const char *run_id, struct sweep_failures *failures, struct err *err)
{
	struct run_transition item = {.event = {.kind = EV_OPENED}};
	struct err why = ERR_INIT;

	text_copy(item.run.text, sizeof(item.run.text), run_id);
	if (runs_apply_transitions(store, &item, 1, &why) < 0 && sweep_failed(failures, run_id, &why, err) < 0)
		return -1;
	if (item.outcome == TRANSITION_APPLIED)
		return 0;
	return db_query(store->db, NULL, err, window_postpone, .run_id = run_id);
}

int windows_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct sweep_failures failures = {0};

	if (db_query(store->db, &rows, err, windows_due, .max = MAX_OPENED) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (window_open(store, row_of(windows_due, &rows, i)->run_id, &failures, err) < 0)
			return -1;
	sweep_failures_note(&failures, "maintenance windows");
	return 0;
}
