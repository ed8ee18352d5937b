/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/assessments.h"

#include "scheduler/background/assessments.sql.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/runs/assessments/assessments.h"
#include "scheduler/runs/transition.h"

enum { MAX_AT_ONCE = 100 };

static int cancel_unwanted(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct run_transition items[MAX_AT_ONCE] = {0};

	if (db_query(store->db, &rows, err, assessments_unwanted, .max = MAX_AT_ONCE) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct assessments_unwanted_row *row = row_of(assessments_unwanted, &rows, i);

		text_copy(items[i].run.text, ID_SIZE, row->run);
		items[i].event.kind = row->force ? EV_FORCE_CANCELED : EV_CANCELED;
		items[i].at_once = true;
		items[i].reason =
			row->of_pool ? "A job waited for the slot of the assessment." : "A run of the workspace began.";
	}
	return rows.count ? runs_apply_transitions(store, items, (size_t)rows.count, err) : 0;
}

static int settle(struct store *store, struct sweep_failures *failures, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, assessments_ended, .max = MAX_AT_ONCE) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const char *run = row_of(assessments_ended, &rows, i)->run;
		struct err why = ERR_INIT;

		if (assessment_settle(store, run, &why) < 0 && sweep_failed(failures, run, &why, err) < 0)
			return -1;
	}
	return 0;
}

static int begin(struct store *store, struct sweep_failures *failures, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, assessment_pools, .percent = store->settings->assessments_percent) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct assessment_pools_row *pool = row_of(assessment_pools, &rows, i);
		struct err why = ERR_INIT;

		if (assessments_begin(store, pool->pool, pool->room, &why) < 0 &&
			sweep_failed(failures, pool->pool, &why, err) < 0)
			return -1;
	}
	return 0;
}

int assessments_sweep(struct store *store, struct err *err)
{
	struct sweep_failures failures = {0};

	if (cancel_unwanted(store, err) < 0 || settle(store, &failures, err) < 0)
		return -1;
	if (store->settings->assessments_percent && begin(store, &failures, err) < 0)
		return -1;
	sweep_failures_note(&failures, "assessments");
	return 0;
}
