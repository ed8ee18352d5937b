/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/task_results.h"

#include "proto/states.h"
#include "scheduler/store/store.h"
#include "scheduler/store/tasks/task_results.sql.h"

int task_results_create(
	struct store *store, const char *run_id, const char *workspace_id, uint32_t *ret_stages, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, task_results_create, .run_id = run_id, .workspace_id = workspace_id) < 0)
		return -1;
	*ret_stages = 0;
	for (int i = 0; i < rows.count; i++)
		*ret_stages |= STAGE_BIT(stage_parse(row_of(task_results_create, &rows, i)->stage));
	return 0;
}

static int results_put_up(struct store *store, const char *task_stages, struct outbox *outbox, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, results_put_up, .task_stages = task_stages,
		    .delivery_seconds = store->settings->task_limits.delivery_seconds) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		outbox_add_task(outbox, row_of(results_put_up, &rows, i)->id, row_of(results_put_up, &rows, i)->run_id);
	return 0;
}

int task_results_follow(struct store *store, const json_t *task_stages, struct outbox *outbox, struct err *err)
{
	if (!json_array_size(task_stages))
		return 0;
	_cleanup_(freep) char *text = json_text(task_stages);
	if (results_put_up(store, text, outbox, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, task_results_follow, .p1 = text);
}

void task_result_tell(struct outbox *outbox, const struct rows *rows, int row)
{
	const struct run_part_changed changed = {.run = row_text(rows, row, "run_id"),
		.workspace = row_text(rows, row, "workspace_id"),
		.organization = row_text(rows, row, "organization_id"),
		.part = "task-result",
		.id = row_text(rows, row, "id")};

	outbox_add(outbox, topics[TOPIC_EVENTS].name, changed.run, run_part_changed_encode(&changed));
}
