/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/reports.h"

#include "scheduler/runs/reports.sql.h"
#include "scheduler/runs/results.h"

/* The progress of one report. */
struct taking {
	bool is_there; /* grants_read looks it up */
	bool late;
};

struct reporting {
	struct store *store;
	struct report *reports;
	struct taking *takings;
	size_t count;
};

/* Reads the reports with `is_there`. */
static int grants_read(const struct reporting *r, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array jobs = DB_ARRAY_INIT, hashes = DB_ARRAY_INIT;
	bool any = false;

	for (size_t i = 0; i < r->count; i++) {
		db_array_add(&jobs, r->takings[i].is_there ? r->reports[i].job : NULL);
		db_array_add(&hashes, r->reports[i].token_hash);
		any |= r->takings[i].is_there;
	}
	if (!any)
		return 0;
	return db_query(r->store->db, ret_rows, err, reports_granted, .jobs = &jobs, .hashes = &hashes);
}

/* Keeps `is_there` of the reports that are to be applied or are late. */
static int takings_find(struct reporting *r, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (size_t i = 0; i < r->count; i++)
		r->takings[i] = (struct taking){.is_there = r->reports[i].job};
	if (grants_read(r, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < r->count; i++) {
		if (r->takings[i].is_there)
			err_set(&r->reports[i].err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
		r->takings[i].is_there = false;
	}
	for (int row = 0; row < rows.count; row++) {
		const struct reports_granted_row *granted = row_of(reports_granted, &rows, row);
		struct report *report = &r->reports[granted->n];
		struct taking *taking = &r->takings[granted->n];

		report->err = (struct err)ERR_INIT;
		taking->late = granted->late;
		taking->is_there = taking->late ||
			(text_equal(report->result.job.text, report->job) &&
				text_equal(report->result.run.text, granted->run_id));
		if (!taking->is_there)
			err_set(&report->err, ERR_INVALID, "the result is of another job");
	}
	return 0;
}

/* Sets ERR_UNAVAILABLE (503) for a refused result, so that the worker sends it again. */
static void outcome_take(const struct reporting *r, size_t i, const struct run_transition *item)
{
	r->takings[i].late = item->outcome == TRANSITION_LATE;
	if (!result_is_refused(item)) {
		result_count(item);
		return;
	}
	result_refused_note(r->store, item);
	err_set(&r->reports[i].err, ERR_UNAVAILABLE, "the run can't take the result yet: %s", item->refused);
}

/* model: httpresult */
static int results_apply(struct reporting *r, struct err *err)
{
	_cleanup_(freep) struct run_transition *items = mem_new(r->count, sizeof(*items));
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->takings[i].is_there && !r->takings[i].late)
			items[count++] = result_transition(&r->reports[i].result);
	if (count && runs_apply_transitions(r->store, items, count, err) < 0)
		return -1;
	count = 0;
	for (size_t i = 0; i < r->count; i++)
		if (r->takings[i].is_there && !r->takings[i].late)
			outcome_take(r, i, &items[count++]);
	return 0;
}

static int late_note(struct reporting *r, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (size_t i = 0; i < r->count; i++)
		r->takings[i].is_there &= r->takings[i].late;
	if (grants_read(r, &rows, err) < 0)
		return -1;
	for (int row = 0; row < rows.count; row++)
		err_set(&r->reports[row_of(reports_granted, &rows, row)->n].err, ERR_CONFLICT,
			"the attempt is over, and its last state is awaited");
	return 0;
}

void reports_take(struct store *store, struct report *reports, size_t count)
{
	_cleanup_(freep) struct taking *takings = mem_new(count, sizeof(*takings));
	struct reporting r = {store, reports, takings, count};
	struct err err = ERR_INIT;

	for (size_t i = 0; i < count; i++)
		reports[i].err = (struct err)ERR_INIT;
	if (takings_find(&r, &err) == 0 && results_apply(&r, &err) == 0 && late_note(&r, &err) == 0)
		return;
	for (size_t i = 0; i < count; i++) {
		if (reports[i].err.kind == ERR_NONE)
			reports[i].err = err;
		if (count > 1 && err.kind != ERR_UNAVAILABLE)
			reports_take(store, &reports[i], 1);
	}
}
