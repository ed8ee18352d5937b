/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUN_TRIGGERS_H
#define SCHEDULER_STORE_RUN_TRIGGERS_H

/*
 * Run triggers: a workspace gets a run when one in its source workspace was applied. Columns read: the table's,
 * workspace_name, source_name and organization_id.
 */

#include "scheduler/store/store.h"

struct run_trigger_list {
	const char *workspace_id;
	bool outbound; /* those that it is the source of; else those that it gets runs by */
	long long limit, offset;
};
/* Oldest first, and `total`; a row with a null id if the page is empty. */
int run_triggers_list(struct store *store, const struct run_trigger_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int run_trigger_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID if there is one already, or the workspace has as many sources as it can. */
int run_trigger_create(
	struct store *store, const char *workspace_id, const char *source_id, struct id *ret_id, struct err *err);
int run_trigger_delete(struct store *store, const char *id, struct err *err);

/* What comes of these runs: run_id, source_name, workspace_id, workspace_name, auto_apply (as the workspace has it for
 * triggered runs). By workspace, which is the order for locks. */
int run_triggers_of(struct store *store, struct db_array *run_ids, struct rows *ret_rows, struct err *err);

#endif
