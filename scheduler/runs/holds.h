/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_HOLDS_H
#define SCHEDULER_RUNS_HOLDS_H

/* Orders to the hold of a workspace: they end the hold, after which the workspace's queue moves on, or stop the
 * terraform of its apply. */

#include "scheduler/store/runs/holds.h"

/* Applies the order in one transaction, and returns what it led to. A refusal changes nothing and is no error. */
int hold_order_commit(
	struct store *store, const struct hold_order *order, struct hold_verdict *ret_verdict, struct err *err);
/* The same for callers that need less. *ret_ended is true if a hold ended; ret_ended may be NULL. */
int hold_release(struct store *store, const struct hold_order *order, bool *ret_ended, struct err *err);

/* Asks the worker of the run's lost apply to stop its terraform (HOLD_CANCELED or HOLD_FORCE_CANCELED), on behalf of
 * `actor`. ERR_NOT_FOUND if no workspace is held for the run; ERR_CONFLICT with the reason. */
int hold_stop(struct store *store, const char *run_id, enum hold_event event, const char *actor, struct err *err);

/* Dismisses open unrecorded resources of a run: those with these ids, separated by spaces, or all (NULL). Ends the hold
 * if nothing else keeps it. ERR_CONFLICT if none is open. */
int hold_dismiss(struct store *store, const char *run_id, const char *ids, const char *actor, struct err *err);

/*
 * The worker reports, with the job's token, that no process of its apply is left and that the last state has arrived.
 *  - If the attempt has ended, its hold and its token end.
 *  - If not (the worker was killed and restarted within the lease), the attempt ends now as lost, without a hold.
 *  - In both cases, open unrecorded resources of the apply hold the workspace (store/runs/unrecorded.h).
 *
 * ERR_NOT_FOUND if the token is not valid; ERR_INVALID if the job is not an apply.
 */
int apply_settled(struct store *store, const char *job_id, const char *token, struct err *err);

#endif
