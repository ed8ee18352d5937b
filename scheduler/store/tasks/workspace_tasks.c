/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/workspace_tasks.h"

#include "scheduler/store/tasks/workspace_tasks.sql.h"

int workspace_tasks_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, workspace_tasks_list, .workspace_id = workspace_id,
		.limit = range.limit, .offset = range.offset);
}

int workspace_tasks_of_task(
	struct store *store, const char *task_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, workspace_tasks_of_task, .task_id = task_id, .limit = range.limit,
		.offset = range.offset);
}

int workspace_tasks_of(struct store *store, struct db_array *task_ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, workspace_tasks_of, .task_ids = task_ids);
}

int workspace_task_read(
	struct store *store, const char *workspace_id, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, workspace_task_read, .workspace_id = workspace_id, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "workspace run task not found");
}

int workspace_task_create(struct store *store, const char *workspace_id, const struct workspace_task *workspace_task,
	struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *stages = json_text(workspace_task->stages);
	struct id id = id_new("wstask");

	if (db_query(store->db, &rows, err, workspace_task_create, .id = id.text, .workspace_id = workspace_id,
		    .task_id = workspace_task->task_id, .stages = stages,
		    .enforcement = workspace_task->enforcement) < 0) {
		if (err->kind != ERR_CONFLICT)
			return -1;
		return err_at(err, "/data/relationships/task", "Task has already been attached to the workspace");
	}
	if (!db_affected(&rows))
		return err_at(err, "/data/relationships/task", "Task must exist");
	*ret_id = id;
	return 0;
}

int workspace_task_update(
	struct store *store, const char *id, const struct workspace_task *workspace_task, struct err *err)
{
	_cleanup_(freep) char *stages = json_text(workspace_task->stages);

	return db_query(store->db, NULL, err, workspace_task_update, .id = id,
		.enforcement = workspace_task->enforcement, .stages = stages);
}

int workspace_task_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, workspace_task_delete, .id = id);
}
