/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_HOLDS_H
#define SCHEDULER_STORE_HOLDS_H

/*
 * Held workspaces (DESIGN rule 7): an apply is over and its worker may still have the last state. Nothing of the queue
 * starts until that state is here, an operator decides, or the time is over. The workspace's row names the hold
 * (hold_job_id); the hold's row outlives it, so that a state which comes later still finds whose it is.
 */

#include "scheduler/store/store.h"

/* Begins a hold for each of these: [{"job", "event"}], the job's id, whose row is still there, and a new run event's.
 */
int holds_begin(struct store *store, const json_t *holds, struct err *err);

enum hold_end {
	HOLD_STATE_CAME, /* the last one is here */
	HOLD_TIME_OVER,
	HOLD_OPERATOR,
};

struct hold_order {
	const char *workspace_id;
	const char *job_id; /* only if it holds for this one; NULL: for whichever */
	enum hold_end why;
	const char *actor;  /* user id; NULL: nobody who asked by the API, and the audit trail then has an event of its
			       own */
	const char *reason; /* what the operator says, or NULL */
};

/* Ends the workspace's hold, if there is one. The caller kicks its queue (dispatch/holds.h). */
int hold_end(struct store *store, const struct hold_order *order, bool *ret_ended, struct err *err);

/* What the token of an attempt that is over is good for: columns job_id, run_id, workspace_id, and `holds`, whether the
 * workspace is held for it. None if it is good for nothing. */
int hold_of_token(
	struct store *store, const char *job_id, const char *token_hash, struct rows *ret_rows, struct err *err);
/* The attempt's last state is here: its token is good for nothing more. */
int hold_forget(struct store *store, const char *job_id, struct err *err);

/* Columns workspace_id and job_id of at most `most` holds whose time is over. */
int holds_due(struct store *store, int most, struct rows *ret_rows, struct err *err);
/* All that hold, the oldest first: workspace_id, workspace, organization, run_id, worker, began_at, until. */
int holds_list(struct store *store, struct rows *ret_rows, struct err *err);

#endif
