/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASKS_H
#define SCHEDULER_STORE_TASKS_H

/*
 * An organization's run tasks: what may be called, with which key, and where of itself (the global configuration). The
 * key is sealed with TASK_KEY_CONTEXT and copied sealed into each task result, so that a new one counts for runs made
 * from then on.
 *
 * Columns read: the table's, `stages` (global_stages as JSON), organization_name and workspace_tasks (ids, JSON).
 */

#include "scheduler/store/store.h"

enum { TASK_KEY_LIMIT = 4096 };

struct task {
	const char *name, *url, *description;
	const char *hmac_key;   /* "" takes it away; NULL: as it is */
	const char *updated_at; /* when it was read, to change it: ERR_CONFLICT if it was changed since */
	bool enabled;
	bool global;
	const json_t *global_stages;
	const char *global_enforcement;
};

/* By name, and `total`; a row with a null id if the page is empty. */
int tasks_list(struct store *store, const char *organization_id, long long limit, long long offset,
	struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int task_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Appends a row's key; nothing if it has none. */
int task_key_open(struct store *store, const struct rows *rows, int row, struct buf *ret_key, struct err *err);
/* ERR_INVALID "Name has already been taken". */
int task_create(
	struct store *store, const char *organization_id, const struct task *task, struct id *ret_id, struct err *err);
int task_update(struct store *store, const char *id, const struct task *task, struct err *err);
/* What it did in runs stays. */
int task_delete(struct store *store, const char *id, struct err *err);

/* What a request of the task would be about: the columns of task_payload.h, from the organization's last run. No row
 * if there is none. */
int task_example(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

#endif
