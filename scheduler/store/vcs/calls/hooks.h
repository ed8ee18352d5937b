/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_HOOKS_H
#define SCHEDULER_STORE_VCS_CALLS_HOOKS_H

/*
 * Hooks at providers: one per repository that workspaces or policy sets use. Each is made when the repository is first
 * used, looked for once a day, made anew with a new secret, and deleted when nothing uses the repository any more.
 *
 * A GitHub App has one hook for all, and plain git has none.
 */

#include "scheduler/store/vcs/calls/call.h"

/* Creates the calls for hooks that are not as they should be. */
int vcs_hooks_enqueue(struct store *store, struct err *err);

/* For a claimed call: the next step towards the hook that the repository should have. */
int vcs_hook_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
/* Applies an answer that was taken. *ret_goes_on: the arguments with which the call goes on (a new reference), or NULL
 * if the hook is as it should be. */
int vcs_hook_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
/* The provider refuses it: users are told to make the hook by hand. Some providers answer 404 to a token that may not
 * manage hooks. */
int vcs_hook_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
