/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASKS_TASKS_H
#define SCHEDULER_STORE_TASKS_TASKS_H

/*
 * An organization's run tasks: URL, HMAC key, and the global configuration that applies to all workspaces. The key is
 * sealed with TASK_KEY_CONTEXT. Each task result gets a sealed copy, so a new key applies to runs created later.
 * Rows are task_row.
 */

#include "scheduler/store/store.h"

struct task_row;

enum { TASK_KEY_LIMIT = 4096 };

struct task {
	const char *name, *url, *description;
	const char *hmac_key;   /* "" deletes it; NULL: unchanged */
	const char *pool_id;    /* the pool whose workers send the requests; NULL: notifiers send them */
	const char *updated_at; /* as the caller read it, for updates: ERR_CONFLICT if it has changed since */
	bool enabled;
	bool global;
	const json_t *global_stages;
	const char *global_enforcement;
};

/* Sorted by name, with `total`; a row with a null id if the page is empty. */
int tasks_list(struct store *store, const char *organization_id, struct list_range range, struct rows *ret_rows,
	struct err *err);
/* ERR_NOT_FOUND. */
int task_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Appends the task's key; appends nothing if it has none. */
int task_key_open(struct store *store, const struct task_row *task, struct buf *ret_key, struct err *err);
/* ERR_INVALID "Name has already been taken". */
int task_create(
	struct store *store, const char *organization_id, const struct task *task, struct id *ret_id, struct err *err);
int task_update(struct store *store, const char *id, const struct task *task, struct err *err);
/* Its results in runs are kept. */
int task_delete(struct store *store, const char *id, struct err *err);

/* Example data for a request of the task: a task_call_row from the organization's last run. No row if
 * there is no run. */
int task_example(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

#endif
