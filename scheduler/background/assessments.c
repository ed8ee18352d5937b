/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/assessments.h"

#include "scheduler/background/assessments.sql.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/runs/assessments/assessments.h"
#include "scheduler/runs/transition.h"

static int cancel(struct store *store, const struct rows *unwanted, struct err *err)
{
	struct run_transition items[ASSESSMENTS_AT_ONCE] = {0};

	for (int i = 0; i < unwanted->count; i++) {
		const struct assessments_unwanted_row *row = row_of(assessments_unwanted, unwanted, i);

		text_copy(items[i].run.text, ID_SIZE, row->run);
		items[i].event.kind = row->force ? EV_FORCE_CANCELED : EV_CANCELED;
		items[i].at_once = true;
		items[i].reason =
			row->of_pool ? "A job waited for the slot of the assessment." : "A run of the workspace began.";
	}
	return unwanted->count ? runs_apply_transitions(store, items, (size_t)unwanted->count, err) : 0;
}

static int begin(struct store *store, const struct rows *pools, struct sweep_failures *failures, struct err *err)
{
	for (int i = 0; i < pools->count; i++) {
		const struct assessment_pools_row *pool = row_of(assessment_pools, pools, i);
		struct err why = ERR_INIT;

		if (assessments_begin(store, pool->pool, pool->room, &why) < 0 &&
			sweep_failed(failures, pool->pool, &why, err) < 0)
			return -1;
	}
	return 0;
}

/* All that is to be done is read in one round trip. */
int assessments_sweep(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows unwanted = ROWS_INIT, pools = ROWS_INIT;
	struct sweep_failures failures = {0};
	int result;

	db_gather(store->db);
	result = db_ask(store->db, &unwanted, err, assessments_unwanted, .max = ASSESSMENTS_AT_ONCE) < 0 ||
			db_ask(store->db, &pools, err, assessment_pools,
				.percent = store->settings->assessments_percent) < 0
		? -1
		: 0;
	if (db_gathered(store->db, result, err) < 0)
		return -1;
	if (cancel(store, &unwanted, err) < 0 || begin(store, &pools, &failures, err) < 0)
		return -1;
	sweep_failures_note(&failures, "assessments");
	return 0;
}

int assessments_evaluate(struct store *store, struct objects *objects, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows ended = ROWS_INIT;
	struct sweep_failures failures = {0};

	if (db_query(store->db, &ended, err, assessments_ended, .max = ASSESSMENTS_AT_ONCE) < 0)
		return -1;
	for (int i = 0; i < ended.count; i++) {
		const char *run = row_of(assessments_ended, &ended, i)->run;
		struct err why = ERR_INIT;

		if (assessment_settle(store, objects, run, &why) == 0)
			continue;
		/* ERR_UNAVAILABLE may also come from the object store, or from a lack of memory, and a healthy
		 * connection is closed after a large plan: others can be read. */
		if (why.kind == ERR_UNAVAILABLE && db_socket(store->db) < 0) {
			*err = why;
			return -1;
		}
		sweep_failures_add(&failures, run, &why);
	}
	sweep_failures_note(&failures, "ended assessments");
	*ret_count = ended.count - (long long)failures.count;
	return 0;
}
