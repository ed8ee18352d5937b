/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_REMOVALS_H
#define SCHEDULER_STORE_VCS_CALLS_REMOVALS_H

/*
 * Hooks that would stay at a provider when their connection or its token is deleted. The deletion does not wait for the
 * provider: the token is kept, sealed, until the hooks are deleted, the provider refuses it, or a day has passed.
 */

#include "scheduler/store/vcs/calls/call.h"

/* Keeps what the removal of the hooks of a connection needs, or of that token's connection; the other id is NULL. In
 * the transaction that deletes it, before. */
int vcs_removals_add(struct store *store, const char *connection_id, const char *token_id, struct err *err);
/* Forgets what was kept for a day. */
int vcs_removals_expire(struct store *store, struct err *err);

/* For a claimed call: the deletion of the first hook. */
int vcs_removal_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
/* The hook is gone. *ret_goes_on: arguments for the next one (a new reference), or NULL: that was the last. */
int vcs_removal_step(struct store *store, const struct vcs_claimed *call, json_t **ret_goes_on, struct err *err);
/* Forgets the hooks, because the provider does not let the token delete them. */
int vcs_removal_end(struct store *store, const char *id, struct err *err);

#endif
