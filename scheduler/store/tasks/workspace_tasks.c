/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/workspace_tasks.h"

#define COLUMNS "id, task_id, workspace_id, enforcement, to_jsonb(stages) as stages, created_at "

int workspace_tasks_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select c.total, t.* from (select count(*) as total from workspace_tasks where workspace_id = $1) c "
		"left join (select " COLUMNS "from workspace_tasks where workspace_id = $1 "
		"order by created_at, id limit $2 offset $3) t on true order by t.created_at, t.id",
		P_TEXT(workspace_id), P_INT(range.limit), P_INT(range.offset));
}

int workspace_tasks_of(struct store *store, struct db_array *task_ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select " COLUMNS "from workspace_tasks where task_id = any($1::text[]) order by created_at, id",
		P_ARRAY(task_ids));
}

int workspace_task_read(
	struct store *store, const char *workspace_id, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select " COLUMNS "from workspace_tasks where workspace_id = $1 and id = $2", P_TEXT(workspace_id),
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "workspace run task not found");
}

int workspace_task_create(struct store *store, const char *workspace_id, const struct workspace_task *workspace_task,
	struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *stages = json_text(workspace_task->stages);
	struct id id = id_new("wstask");

	if (db_query(store->db, &rows, err,
		    "insert into workspace_tasks (id, task_id, workspace_id, stages, enforcement) "
		    "select $1, t.id, w.id, array(select jsonb_array_elements_text($4::jsonb)), $5 "
		    "from workspaces w join tasks t on t.organization_id = w.organization_id "
		    "where w.id = $2 and t.id = $3",
		    P_TEXT(id.text), P_TEXT(workspace_id), P_TEXT(workspace_task->task_id), P_TEXT(stages),
		    P_TEXT(workspace_task->enforcement)) < 0) {
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

	return db_query(store->db, NULL, err,
		"update workspace_tasks set enforcement = $2, "
		"stages = array(select jsonb_array_elements_text($3::jsonb)) where id = $1",
		P_TEXT(id), P_TEXT(workspace_task->enforcement), P_TEXT(stages));
}

int workspace_task_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, "delete from workspace_tasks where id = $1", P_TEXT(id));
}
