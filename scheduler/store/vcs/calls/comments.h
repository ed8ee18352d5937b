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

/* For a claimed call: the list, the new comment or its edit. */
int vcs_comment_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
/* Applies an answer that was taken. *ret_goes_on: as of vcs_hook_step. */
int vcs_comment_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err);
/* The provider refuses it. `missing`: the comment to edit was deleted, so that a list must tell. *ret_goes_on: as of
 * vcs_hook_step. */
int vcs_comment_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
