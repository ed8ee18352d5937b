/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_RUN_TRIGGERS_H
#define SCHEDULER_STORE_RUNS_RUN_TRIGGERS_H

/*
 * Run triggers: an applied run in a source workspace starts a run in the target workspace. Rows are
 * run_trigger_row.
 */

#include "scheduler/store/store.h"

struct run_trigger_list {
	const char *workspace_id;
	bool outbound; /* triggers of which the workspace is the source; else those of which it is the target */
	long long limit, offset;
};
/* The oldest first, with `total`; a row with a null id if the page is empty. */
int run_triggers_list(struct store *store, const struct run_trigger_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int run_trigger_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID if the trigger exists already, or the workspace has the maximum number of sources. */
int run_trigger_create(
	struct store *store, const char *workspace_id, const char *source_id, struct id *ret_id, struct err *err);
int run_trigger_delete(struct store *store, const char *id, struct err *err);

/*
 * ---- pending triggers: runs that applied runs have yet to start in target workspaces (runs/triggers.c) ----
 */

/* Inserts one pending trigger for each target of these applied runs, in the caller's transaction. It neither locks nor
 * waits for a target. */
int pending_triggers_insert(struct store *store, struct db_array *run_ids, struct err *err);

/* The source run and the target workspace, which are the row's key. */
struct pending_trigger {
	const char *run_id, *workspace_id;
};
/* Up to `limit` pending triggers that are due: pending_triggers_due_row. */
int pending_triggers_due(struct store *store, long long limit, struct rows *ret_rows, struct err *err);
/* Locks a pending trigger that is due, in a transaction: pending_trigger_lock_row. No row: another scheduler has locked
 * it. */
int pending_trigger_lock(
	struct store *store, const struct pending_trigger *trigger, struct rows *ret_rows, struct err *err);
int pending_trigger_delete(struct store *store, const struct pending_trigger *trigger, struct err *err);
/* Records the error of a failed try, and schedules the next one: after 2 s, then twice as long, at most 5 minutes.
 * pending_trigger_postpone_row; no row: the pending trigger was deleted. */
int pending_trigger_postpone(struct store *store, const struct pending_trigger *trigger, const char *error,
	struct rows *ret_rows, struct err *err);

#endif
