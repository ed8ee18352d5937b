/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASKS_WORKSPACE_TASKS_H
#define SCHEDULER_STORE_TASKS_WORKSPACE_TASKS_H

/*
 * Run tasks that are attached to workspaces, with their stages and enforcement levels. A task can be attached to a
 * workspace once.
 * Rows are workspace_task_row.
 */

#include "scheduler/store/store.h"

struct workspace_task {
	const char *task_id;  /* only to create it */
	const json_t *stages; /* a non-empty array of strings */
	const char *enforcement;
};

/* In the order of attachment, with `total`; a row with a null id if the page is empty. */
int workspace_tasks_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err);
/* The same for the attachments of a run task. */
int workspace_tasks_of_task(
	struct store *store, const char *task_id, struct list_range range, struct rows *ret_rows, struct err *err);
/* The attachments of all run tasks of an array of ids. */
int workspace_tasks_of(struct store *store, struct db_array *task_ids, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int workspace_task_read(
	struct store *store, const char *workspace_id, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID if the task is not in the workspace's organization, or is attached already. */
int workspace_task_create(struct store *store, const char *workspace_id, const struct workspace_task *workspace_task,
	struct id *ret_id, struct err *err);
int workspace_task_update(
	struct store *store, const char *id, const struct workspace_task *workspace_task, struct err *err);
int workspace_task_delete(struct store *store, const char *id, struct err *err);

#endif
