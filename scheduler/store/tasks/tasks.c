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

int task_key_open(struct store *store, const struct task_row *task, struct buf *ret_key, struct err *err)
{
	return task->hmac_sealed.text ? seal_open(store, TASK_KEY_CONTEXT, task->hmac_sealed, ret_key, err) : 0;
}

/* ---- creating and changing ---- */

/* The sealed key as a parameter; null deletes the key. */
static struct db_blob key_param(struct store *store, const char *key, struct buf *sealed)
{
	if (!key || !*key)
		return db_blob(NULL, 0);
	seal_text(store, TASK_KEY_CONTEXT, key, sealed);
	return db_blob(sealed->data, sealed->len);
}

int task_create(
	struct store *store, const char *organization_id, const struct task *task, struct id *ret_id, struct err *err)
{
	_cleanup_(buf_release) struct buf sealed = BUF_INIT(TASK_KEY_LIMIT);
	_cleanup_(freep) char *stages = json_text(task->global_stages);
	struct id id = id_new("task");

	if (db_query(store->db, NULL, err, task_create, .id = id.text, .organization_id = organization_id,
		    .name = task->name, .url = task->url, .description = task->description,
		    .hmac_sealed = key_param(store, task->hmac_key, &sealed), .enabled = task->enabled,
		    .global_enabled = task->global, .stages = stages, .global_enforcement = task->global_enforcement,
		    .pool_id = task->pool_id) < 0)
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
	if (db_query(store->db, &rows, err, task_update, .id = id, .name = task->name, .url = task->url,
		    .description = task->description, .sets_key = task->hmac_key != NULL,
		    .hmac_sealed = key_param(store, task->hmac_key, &sealed), .enabled = task->enabled,
		    .global_enabled = task->global, .stages = stages, .global_enforcement = task->global_enforcement,
		    .pool_id = task->pool_id, .updated_at = task->updated_at) < 0)
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
