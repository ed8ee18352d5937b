/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_COMMENTS_H
#define SCHEDULER_STORE_VCS_CALLS_COMMENTS_H

/*
 * The one comment of a pull request, which is edited in place. It is found by a hidden marker. A comment is created
 * only after a list of the comments had none: a request that was lost may have created one.
 */

#include "scheduler/store/vcs/calls/call.h"

/* Creates the comment of the event's pull request, or a new version of it, unless a newer event has made one. A pull
 * request that affects no workspace gets none. */
int vcs_comment_renew(struct store *store, const char *event_id, struct err *err);
/* Creates the calls of comments that are due. */
int vcs_comments_enqueue(struct store *store, struct err *err);

/* Prepares a claimed call: the list, the new comment or its edit. */
int vcs_comment_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
/* Applies an accepted answer. *ret_goes_on: as of vcs_hook_step. */
int vcs_comment_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
/* Applies a refusal. If the comment to edit is missing, the call goes on with a list of the comments. *ret_goes_on: as
 * of vcs_hook_step. */
int vcs_comment_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
