/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_CALLS_H
#define SCHEDULER_STORE_VCS_CALLS_CALLS_H

/*
 * Calls of providers' APIs. The scheduler makes the request when a notifier claims the call, from the database's state
 * at that time, so secrets are never stored with the call. The notifier sends it once and returns the answer, which
 * runs/vcs/answers.c applies.
 *
 * vcs_limits bounds the writes of each credential per minute and per hour. While a provider has requested a pause, no
 * call with the credential is claimed. Calls with a low number as urgency go first.
 */

#include "scheduler/store/request_claim.h"
#include "scheduler/store/vcs/calls/call.h"
#include "scheduler/store/vcs/calls/calls.sql.h"

/* Creates a call that is due now, unless there is one of the same purpose and subject. */
struct vcs_call {
	const char *repository_id; /* or NULL */
	const char *connection_id; /* of a call without a repository */
	enum vcs_purpose purpose;
	const char *subject; /* NULL: "" */
};
int vcs_call_add(struct store *store, const struct vcs_call *call, struct err *err);

/* Appends claimed calls to `requests`. In a transaction. */
int vcs_calls_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err);
/* Creates the calls that check credentials and repositories which are not verified yet. */
int vcs_checks_enqueue(struct store *store, struct err *err);
/* Lets calls wait again whose notifier was lost. */
int vcs_calls_rescue(struct store *store, struct err *err);

/* Locks the call that the answer is for. *ret_there is false if it has ended, or was claimed again. */
int vcs_call_lock(
	struct store *store, const char *id, int attempt, struct rows *ret_rows, bool *ret_there, struct err *err);
/* The row's members; `arguments` is a new reference that the caller releases. */
struct vcs_claimed vcs_call_of(const struct vcs_call_row *row, json_t *arguments);
/* Ends the call. */
int vcs_call_end(struct store *store, const char *id, struct err *err);
/* Tries the call again after `wait_s` and a growing pause. */
int vcs_call_again(struct store *store, const struct vcs_claimed *call, int wait_s, const char *why, struct err *err);
/* Makes the next step of the call due at once, with these arguments. */
int vcs_call_goes_on(struct store *store, const struct vcs_claimed *call, const json_t *arguments, struct err *err);
/* Stores that the credential of the call may not be used for a while. */
int vcs_limit_block(struct store *store, const struct vcs_claimed *call, int wait_s, struct err *err);
/* Stores why the last call of the credential failed. NULL: it succeeded, which leaves the reason of a pause. */
int vcs_limit_note(struct store *store, const struct vcs_claimed *call, const char *why, struct err *err);

#endif
