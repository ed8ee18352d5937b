/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_APPROVALS_H
#define SCHEDULER_STORE_VCS_EVENTS_APPROVALS_H

/* Heads of pull requests from forks. Each workspace plans them only after a user who may manage it has approved them.
 */

#include "scheduler/store/store.h"

/* The workspaces in which the event waited for an approval when it was decided last: column workspace_id. ERR_NOT_FOUND
 * if there are none. */
int vcs_approval_read(struct store *store, const char *event_id, struct rows *ret_rows, struct err *err);
/* Approves the head for these workspaces, and decides the event again. ERR_CONFLICT if the pull request has a newer
 * head, or is closed. */
int vcs_approval_give(struct store *store, const char *event_id, struct db_array *workspace_ids, struct err *err);

/* The repository to which a workspace is connected. ERR_CONFLICT if there is none. */
int vcs_repository_of_workspace(
	struct store *store, const char *workspace_id, struct id *ret_repository, struct err *err);

#endif
