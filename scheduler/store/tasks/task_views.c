/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/task_views.h"

#include "scheduler/outbox/outbox.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/tasks/task_views.sql.h"

int task_stages_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, task_stages_of_run, .run_id = run_id,
		.user = response_scope_user(store->scope));
}

int task_stage_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(
		store->db, ret_rows, err, task_stage_views_of, .ids = ids, .user = response_scope_user(store->scope));
}

int task_stage_view(struct store *store, const char *stage_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, task_stage_view, .stage_id = stage_id,
		    .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "task stage not found");
}

int task_result_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, task_result_views_of, .ids = ids);
}

int task_results_view(
	struct store *store, struct db_array *ids, const char *stage_id, struct rows *ret_rows, struct err *err)
{
	struct db_array none = DB_ARRAY_INIT;

	return db_query(store->db, ret_rows, err, task_results_view, .ids = ids ? ids : &none, .stage_id = stage_id);
}

int task_result_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	db_array_add(&ids, id);
	if (task_results_view(store, &ids, NULL, ret_rows, err) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "task result not found");
}

int task_outcomes_view(struct store *store, const char *task_result_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, task_outcomes_view, .task_result_id = task_result_id);
}

int task_outcome_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, task_outcome_view, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "task result outcome not found");
}

int task_deliveries_view(struct store *store, const char *task_result_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, task_deliveries_view, .task_result_id = task_result_id);
}

struct redelivering {
	struct store *store;
	const char *id;
};

static int redeliver_run(void *data, struct err *err)
{
	struct redelivering *r = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(outbox_release) struct outbox outbox;

	outbox_init(&outbox);
	if (db_query(r->store->db, &rows, err, task_result_redeliver, .id = r->id,
		    .delivery_seconds = r->store->settings->task_limits.delivery_seconds) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_CONFLICT, "the task is over, or its stage does not run yet");
	outbox_add_task(&outbox, r->id, row_of(task_result_redeliver, &rows, 0)->run_id);
	return outbox_insert(&outbox, r->store->db, r->store->sink, err);
}

int task_result_redeliver(struct store *store, const char *task_result_id, struct err *err)
{
	struct redelivering r = {.store = store, .id = task_result_id};

	return db_transaction(store->db, redeliver_run, &r, err);
}
