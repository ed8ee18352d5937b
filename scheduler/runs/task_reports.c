/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/task_reports.h"

#include "common/log.h"
#include "scheduler/runs/task_reports.sql.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/tasks/task_results.h"
#include "scheduler/store/tasks/task_results.sql.h"

struct deciding {
	struct store *store;
	struct db_array *ids;
};

static int results_tell(struct deciding *d, const struct rows *results, struct err *err)
{
	_cleanup_(outbox_release) struct outbox outbox;

	outbox_init(&outbox);
	for (int i = 0; i < results->count; i++)
		task_result_tell(&outbox, row_of(task_result_changed, results, i));
	return outbox_insert(&outbox, d->store->db, d->store->sink, err);
}

/* Takes the runs' locks first, as everywhere (store/runs/runs.h). */
static int reports_take(struct deciding *d, struct db_array *run_ids, struct err *err)
{
	_cleanup_(rows_release) struct rows runs = ROWS_INIT, taken = ROWS_INIT;
	_cleanup_(run_set_release) struct run_set set = {0};

	if (db_query(d->store->db, &runs, err, task_reports_runs, .ids = d->ids) < 0)
		return -1;
	for (int i = 0; i < runs.count; i++)
		db_array_add(run_ids, row_of(task_reports_runs, &runs, i)->run_id);
	if (!runs.count)
		return 0;
	if (runs_load(d->store, run_ids, &set, err) < 0)
		return -1;
	if (db_query(d->store->db, &taken, err, task_reports_take, .ids = d->ids) < 0)
		return -1;
	return results_tell(d, &taken, err);
}

static int decide_run(void *data, struct err *err)
{
	struct deciding *d = data;
	_cleanup_(db_array_release) struct db_array run_ids = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows over = ROWS_INIT;
	_cleanup_(freep) struct run_transition *items = NULL;
	_cleanup_(freep) char **reasons = NULL;
	int result;

	if (reports_take(d, &run_ids, err) < 0)
		return -1;
	if (!run_ids.count)
		return 0;
	if (db_query(d->store->db, &over, err, task_stages_over, .run_ids = &run_ids) < 0)
		return -1;
	items = mem_new((size_t)over.count, sizeof(*items));
	reasons = mem_new((size_t)over.count, sizeof(*reasons));
	for (int i = 0; i < over.count; i++) {
		const struct task_stages_over_row *stage = row_of(task_stages_over, &over, i);

		text_copy(items[i].run.text, ID_SIZE, stage->run_id);
		items[i].event.kind = stage->mandatory ? EV_FAILED : stage->advisory ? EV_WARNED : EV_PASSED;
		if (stage->advisory)
			reasons[i] = mem_printf("Run tasks did not pass: %s", stage->failed);
		items[i].reason = reasons[i];
	}
	result = transitions_apply_within(d->store, items, (size_t)over.count, &kicked, err);
	for (int i = 0; i < over.count; i++)
		free(reasons[i]);
	return result;
}

int task_reports_decide(struct store *store, struct db_array *task_result_ids, struct err *err)
{
	struct deciding d = {.store = store, .ids = task_result_ids};

	return task_result_ids->count ? db_transaction(store->db, decide_run, &d, err) : 0;
}

static int batch_decide(struct store *store, void *data, struct err *err)
{
	return task_reports_decide(store, data, err);
}

int task_reports_settle(struct intake *intake, const struct kafka_message *messages, size_t count)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct err err = ERR_INIT;

	for (size_t i = 0; i < count; i++) {
		struct task_message ticket;

		if (task_message_decode(messages[i].payload, messages[i].len, &ticket, &err) == 0)
			db_array_add(&ids, ticket.task_result.text);
		else if (intake_letter(intake, &messages[i], err.message) < 0)
			return -1;
	}
	if (intake_try(intake, batch_decide, &ids, &err) == 0)
		return 0;
	if (err.kind == ERR_UNAVAILABLE)
		return -1;
	/* The reports are in the database: the reaper decides them later. */
	log_error("reports of run tasks can't be decided", "error", err.message, NULL);
	return 0;
}
