/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/task_sweeps.h"

#include "common/metrics.h"
#include "proto/messages.h"
#include "proto/topics.h"
#include "scheduler/background/sweep_failures.h"
#include "scheduler/background/task_sweeps.sql.h"
#include "scheduler/metrics.h"
#include "scheduler/runs/task_reports.h"
#include "scheduler/store/notifications/notifications.h"

enum { MAX_SWEPT = 500 };

static int requests_again(struct store *store, const struct db_statement *statement, struct err *err)
{
	return db_query_one_of(store->db, NULL, err, statement, task_requests_again, .topic = topics[TOPIC_TASKS].name,
		.message_version = MESSAGE_VERSION, .max = MAX_SWEPT);
}

int sweep_task_requests(struct store *store, struct err *err)
{
	return requests_again(store, &task_requests_again_statement, err);
}

int sweep_notifications(struct store *store, struct err *err)
{
	if (notifications_give_up(store, err) < 0)
		return -1;
	return requests_again(store, &notifications_again_statement, err);
}

static int deadlines_report(struct store *store, const struct rows *silent, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (int i = 0; i < silent->count; i++)
		db_array_add(&ids, row_of(task_results_silent, silent, i)->id);
	if (db_query(store->db, &rows, err, task_results_time_out, .ids = &ids) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		metric_observe(M_TASKS_LATE, "", strtod(row_of(task_results_time_out, &rows, i)->seconds, NULL));
	return 0;
}

/* Notifiers report deadlines. This reports a deadline that no notifier reported within half a minute. The clock is read
 * after the selection, as for leases. */
static int silent_report(struct store *store, struct clock_watch *clock, struct err *err)
{
	_cleanup_(rows_release) struct rows silent = ROWS_INIT;
	bool steady = false;

	if (db_query(store->db, &silent, err, task_results_silent) < 0 ||
		(silent.count && clock_watch_look(clock, store, &steady, err) < 0))
		return -1;
	return steady ? deadlines_report(store, &silent, err) : 0;
}

/* Decides the reports in one transaction. If that fails, decides each in its own, so that one failing run does not
 * block the others. */
static int reports_decide(struct store *store, const struct rows *rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct sweep_failures failures = {0};

	for (int i = 0; i < rows->count; i++)
		db_array_add(&ids, row_of(task_reports_due, rows, i)->id);
	if (task_reports_decide(store, &ids, err) == 0)
		return 0;
	if (err->kind == ERR_UNAVAILABLE)
		return -1;
	for (int i = 0; i < rows->count; i++) {
		_cleanup_(db_array_release) struct db_array one = DB_ARRAY_INIT;
		const char *id = row_of(task_reports_due, rows, i)->id;
		struct err why = ERR_INIT;

		db_array_add(&one, id);
		if (task_reports_decide(store, &one, &why) < 0 && sweep_failed(&failures, id, &why, err) < 0)
			return -1;
	}
	sweep_failures_note(&failures, "task deadlines");
	*err = (struct err)ERR_INIT;
	return 0;
}

int sweep_task_deadlines(struct store *store, struct clock_watch *clock, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (silent_report(store, clock, err) < 0 ||
		db_query(store->db, &rows, err, task_reports_due, .max = MAX_SWEPT) < 0)
		return -1;
	return reports_decide(store, &rows, err);
}
