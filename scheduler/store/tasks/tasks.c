/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/tasks.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/tasks/task_payload.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/tasks/tasks.sql.h"

int tasks_list(struct store *store, const char *organization_id, struct list_range range, struct rows *ret_rows,
	struct err *err)
{
	return db_query(store->db, ret_rows, err, tasks_list, .organization_id = organization_id, .limit = range.limit,
		.offset = range.offset);
}

int task_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, task_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run task not found");
}

int task_key_open(struct store *store, const struct rows *rows, int row, struct buf *ret_key, struct err *err)
{
	if (!row_of(task, rows, row)->hmac_sealed.text)
		return 0;
	return seal_open(store, TASK_KEY_CONTEXT, (struct sealed_column){rows, row, "hmac_sealed"}, ret_key, err);
}

/* ---- creating and changing ---- */

/* The sealed key as a parameter; null deletes the key. */
static struct db_param key_param(struct store *store, const char *key, struct buf *sealed)
{
	if (!key || !*key)
		return (struct db_param)P_TEXT(NULL);
	seal_text(store, TASK_KEY_CONTEXT, key, sealed);
	return (struct db_param)P_BYTES(sealed->data, sealed->len);
}

int task_create(
	struct store *store, const char *organization_id, const struct task *task, struct id *ret_id, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(TASK_KEY_LIMIT);
	_cleanup_(freep) char *stages = json_text(task->global_stages);
	struct id id = id_new("task");

	if (db_query_sql(store->db, NULL, err,
		    "insert into tasks (id, organization_id, name, url, description, hmac_sealed, enabled, "
		    "global_enabled, global_stages, global_enforcement) values ($1, $2, $3, $4, $5, $6, $7, $8, "
		    "array(select jsonb_array_elements_text($9::jsonb)), $10)",
		    P_TEXT(id.text), P_TEXT(organization_id), P_TEXT(task->name), P_TEXT(task->url),
		    P_TEXT(task->description), key_param(store, task->hmac_key, &sealed), P_BOOL(task->enabled),
		    P_BOOL(task->global), P_TEXT(stages), P_TEXT(task->global_enforcement)) < 0)
		return name_taken(store, "tasks_name", err);
	*ret_id = id;
	return 0;
}

int task_update(struct store *store, const char *id, const struct task *task, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(TASK_KEY_LIMIT);
	_cleanup_(freep) char *stages = json_text(task->global_stages);
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	/* The check of the URL before this takes time. A concurrent change must not be overwritten. */
	if (db_query_sql(store->db, &rows, err,
		    "update tasks set name = $2, url = $3, description = $4, "
		    "hmac_sealed = case when $5 then $6::bytea else hmac_sealed end, enabled = $7, "
		    "global_enabled = $8, global_stages = array(select jsonb_array_elements_text($9::jsonb)), "
		    "global_enforcement = $10, updated_at = now() where id = $1 and updated_at = $11::timestamptz",
		    P_TEXT(id), P_TEXT(task->name), P_TEXT(task->url), P_TEXT(task->description),
		    P_BOOL(task->hmac_key != NULL), key_param(store, task->hmac_key, &sealed), P_BOOL(task->enabled),
		    P_BOOL(task->global), P_TEXT(stages), P_TEXT(task->global_enforcement),
		    P_TEXT(task->updated_at)) < 0)
		return name_taken(store, "tasks_name", err);
	return db_affected(&rows) ? 0 : err_set(err, ERR_CONFLICT, "the task was changed meanwhile: try again");
}

int task_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, task_delete, .id = id);
}

/* ---- an example ---- */

int task_example(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, task_example, .id = id, .user = response_scope_user(store->scope));
}
