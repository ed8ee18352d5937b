/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_HOOKS_H
#define SCHEDULER_STORE_VCS_CALLS_HOOKS_H

/*
 * Hooks at providers: one per repository that is used. A hook is created when the repository is first used, checked
 * once a day, updated after its secret was rotated, and deleted when the repository is unused.
 *
 * A GitHub App has one hook for all, and plain git has none.
 */

#include "scheduler/store/vcs/calls/call.h"

/* Creates the calls for hooks that must be created, checked, updated or deleted. */
int vcs_hooks_enqueue(struct store *store, struct err *err);

/* Prepares a claimed call: the next step towards the hook that the repository should have. */
int vcs_hook_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
/* Applies an accepted answer. *ret_goes_on: the arguments of the call's next step (a new reference), or NULL if the
 * hook is as it should be. */
int vcs_hook_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
/* Records that the provider refuses the call. The repository's hook-error shows it, and users create the hook by hand.
 * Some providers answer 404 to a token that may not manage hooks. */
int vcs_hook_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
