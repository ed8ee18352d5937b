/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_HOLDS_H
#define SCHEDULER_DISPATCH_HOLDS_H

/* Orders to the hold of a workspace: they end it, after which its queue goes on, or stop the terraform of its apply. */

#include "scheduler/store/holds.h"

/* In one transaction. ret_ended: whether a hold has ended; may be NULL. A refusal changes nothing and is no error. */
int hold_release(struct store *store, const struct hold_order *order, bool *ret_ended, struct err *err);

/* Asks the worker of the run's lost apply to stop its terraform, HOLD_CANCELED or HOLD_FORCE_CANCELED, for that user.
 * ERR_NOT_FOUND if no workspace is held for the run; ERR_CONFLICT with the reason. */
int hold_stop(struct store *store, const char *run_id, enum hold_event event, const char *actor, struct err *err);

/* Dismisses the open unrecorded resources of a run (store/unrecorded.h), or the one with that id, and ends the hold
 * that nothing else keeps. ERR_CONFLICT if none is open. */
int hold_dismiss(struct store *store, const char *run_id, const char *id, const char *actor, struct err *err);

/*
 * The worker says of its apply, by the job's token, that no process of it is left and that its last state is here. If
 * the attempt was over, its hold ends, and so does its token; if not (its worker was killed and is back before the
 * lease's end), it ends now as lost, and holds nothing. Open unrecorded resources of the apply hold the workspace in
 * both cases (store/unrecorded.h). ERR_NOT_FOUND if the token is good for nothing; ERR_INVALID if
 * the job is no apply.
 */
int apply_settled(struct store *store, const char *job_id, const char *token, struct err *err);

/* Prints the holds, one JSON object a line. */
int holds_print(struct store *store, struct err *err);
/* The command line's release of a workspace. Prints a warning to standard error if terraform may still run.
 * ERR_NOT_FOUND if it is not held. */
int holds_release(struct store *store, const char *workspace_id, const char *reason, struct err *err);

#endif
