/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_PULLS_H
#define SCHEDULER_RUNS_VCS_PULLS_H

/*
 * Applies what the provider's API tells of pull requests (store/vcs/calls/pulls.h). A difference to what is known
 * becomes the event that the provider's hook would have sent, marked as found by a poll. What a hook or a look has
 * changed since the list was asked for is left alone.
 */

#include "scheduler/store/vcs/calls/call.h"

/* An answer that was taken. *ret_goes_on: the arguments with which the call goes on (a new reference), or NULL. */
int vcs_pulls_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
/* A refusal. A pull request that is missing was deleted, so it counts as closed. */
int vcs_pulls_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
