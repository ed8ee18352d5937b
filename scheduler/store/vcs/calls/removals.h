/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_REMOVALS_H
#define SCHEDULER_STORE_VCS_CALLS_REMOVALS_H

/*
 * Deletes the hooks of a deleted organization, connection or token at the provider. The API's request does not wait for
 * the provider. The database keeps the sealed token until the hooks are deleted, the provider refuses it, or a day has
 * passed.
 */

#include "scheduler/store/vcs/calls/call.h"

/* Copies the hooks and the tokens of what is deleted, and creates the calls. One of the ids is set. Call it before the
 * deletion, in the same transaction. */
struct vcs_removals_of {
	const char *organization_id, *connection_id, *token_id;
};
int vcs_removals_add(struct store *store, const struct vcs_removals_of *of, struct err *err);
/* Deletes copies that are older than a day. */
int vcs_removals_expire(struct store *store, struct err *err);

/* Prepares a claimed call: the deletion of the first hook. */
int vcs_removal_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
/* The provider has deleted the hook. *ret_goes_on: arguments for the next hook (a new reference), or NULL after the
 * last one. */
int vcs_removal_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
/* The provider refuses the token: deletes the copy. Does not use *ret_goes_on. */
int vcs_removal_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
