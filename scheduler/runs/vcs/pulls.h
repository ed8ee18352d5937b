/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_PULLS_H
#define SCHEDULER_RUNS_VCS_PULLS_H

/*
 * Applies the pull requests that the provider's API returns (store/vcs/calls/pulls.h). A difference to the database
 * becomes the event that the provider's hook would have sent, marked as found by a poll. A pull request that a hook or
 * a look has changed since the read began is skipped.
 */

#include "scheduler/store/vcs/calls/call.h"

/* Applies an accepted answer. *ret_goes_on: the arguments of the call's next step (a new reference), or NULL. */
int vcs_pulls_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
/* Applies a refusal. A pull request that the provider does not have counts as closed. */
int vcs_pulls_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
