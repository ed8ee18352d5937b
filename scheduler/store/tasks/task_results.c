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

static int results_offer(struct store *store, const char *changed_stages, struct outbox *outbox, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, task_results_offer, .stages = changed_stages,
		    .delivery_seconds = store->settings->task_limits.delivery_seconds) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct task_results_offer_row *result = row_of(task_results_offer, &rows, i);

		outbox_add_task(outbox, result->id, result->run_id);
	}
	return 0;
}

int task_results_follow(struct store *store, const json_t *task_stages, struct outbox *outbox, struct err *err)
{
	if (!json_array_size(task_stages))
		return 0;
	_cleanup_(freep) char *text = json_text(task_stages);
	if (results_offer(store, text, outbox, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, task_results_end, .stages = text);
}

void task_result_tell(struct outbox *outbox, const struct task_result_changed_row *result)
{
	const struct run_part_changed changed = {.run = result->run_id,
		.workspace = result->workspace_id,
		.organization = result->organization_id,
		.part = "task-result",
		.id = result->id};

	outbox_add(outbox, topics[TOPIC_EVENTS].name, changed.run, run_part_changed_encode(&changed));
}
