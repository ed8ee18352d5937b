/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_HOLDS_H
#define SCHEDULER_STORE_RUNS_HOLDS_H

/*
 * Holds of workspaces as rows; lifecycle/hold.h decides about them. The workspace's row refers to its hold
 * (hold_job_id). The hold's row is kept after the hold ends, so that a late state still finds its run. Open unrecorded
 * resources of the apply (store/runs/unrecorded.h) extend the hold beyond its last state and its deadline.
 */

#include "scheduler/lifecycle/hold.h"
#include "scheduler/store/store.h"

/* Begins the holds of an array of {"job", "event", "engine_ended"}. `job` is the job's id; its row must still exist.
 * `event` is the id of a new run event. `engine_ended` says whether the worker itself reported the end of the apply. */
int holds_begin(struct store *store, const json_t *holds, struct err *err);

struct hold_order {
	enum hold_event event;
	const char *workspace_id; /* set this or run_id, or both: the hold must be of this run */
	const char *run_id;
	const char *job_id; /* apply only if the hold is this job's; NULL: any */
	const char *actor;  /* user id; NULL: not an API request, so the audit trail gets an event for it */
	const char *reason; /* of a release, or NULL */
};

/* The result of an order. */
struct hold_outcome {
	struct hold_verdict verdict; /* if `refused` is set, nothing was changed */
	struct id workspace, run;    /* "" if there is no hold */
	char *stop;                  /* the control message for the worker, or NULL; owned */
};

void hold_outcome_release(struct hold_outcome *done);
/* Applies hold_step's verdict. The caller publishes `stop`, and kicks the queue if the hold has ended
 * (runs/holds.h). */
int hold_apply(struct store *store, const struct hold_order *order, struct hold_outcome *ret_outcome, struct err *err);

/* Finds the hold of an ended attempt by its token: hold_of_token_row. No row: the token is not valid any more. */
int hold_of_token(
	struct store *store, const char *job_id, const char *token_hash, struct rows *ret_rows, struct err *err);
/* Invalidates the token after the attempt's last state was received, unless the workspace is still held for it. */
int hold_forget(struct store *store, const char *job_id, struct err *err);

/* At most `max` holds whose deadline has passed: holds_due_row. */
int holds_due(struct store *store, int max, struct rows *ret_rows, struct err *err);
/* Marks at most `max` holds that have lasted longer than store->settings->hold_alert_seconds, and returns each once:
 * holds_alert_row. */
int holds_alert(struct store *store, int max, struct rows *ret_rows, struct err *err);
/* All current holds, the oldest first: holds_list_row. */
int holds_list(struct store *store, struct rows *ret_rows, struct err *err);

/* The workspace and its hold: hold_of_workspace_row. HOLD_OF_ROW says whether it is held. ERR_NOT_FOUND. */
int hold_of_workspace(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);

/* The hold of a row that has the columns of the fragment hold_columns, and `cooled_off`. */
#define HOLD_OF_ROW(row)                                                                                               \
	((struct hold){.holds = !(row)->hold_stop_null,                                                                \
		.engine_ended = (row)->hold_engine_ended,                                                              \
		.past_deadline = (row)->hold_past_deadline,                                                            \
		.settled = (row)->hold_settled,                                                                        \
		.unrecorded = (row)->hold_unrecorded,                                                                  \
		.restored = (row)->hold_restored,                                                                      \
		.cooled_off = (row)->cooled_off,                                                                       \
		.stop = (enum stop)(row)->hold_stop})

#endif
