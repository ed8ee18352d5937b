/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_HOLDS_H
#define SCHEDULER_DISPATCH_HOLDS_H

/* The end of a workspace's hold (store/holds.h), after which its queue goes on at once. */

#include "scheduler/store/holds.h"

/* In one transaction. ret_ended: whether there was one; may be NULL. */
int hold_release(struct store *store, const struct hold_order *order, bool *ret_ended, struct err *err);

/*
 * The worker says of its apply, by the job's token, that no process of it is left and that its last state is here. If
 * the attempt was over, its hold ends, and so does its token; if not (its worker was killed and is back before the
 * lease's end), it ends now as lost, and holds nothing. ERR_NOT_FOUND if the token is good for nothing; ERR_INVALID if
 * the job is no apply.
 */
int apply_settled(struct store *store, const char *job_id, const char *token, struct err *err);

/* Prints the holds, one JSON object a line. */
int holds_print(struct store *store, struct err *err);
/* Ends the hold of a workspace for somebody at the command line. ERR_NOT_FOUND if it is not held. */
int holds_release(struct store *store, const char *workspace_id, const char *reason, struct err *err);

#endif
