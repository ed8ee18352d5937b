/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_REMOTE_STATE_H
#define SCHEDULER_STORE_WORKSPACES_REMOTE_STATE_H

/*
 * Access to a workspace's state by runs of other workspaces. Access is granted to all workspaces of its organization
 * (global-remote-state), else to all workspaces of its project (project-remote-state), else to its consumers.
 */

#include "scheduler/store/store.h"

/* Whether runs of `consumer` may read the state of `producer` (ids of workspaces). A workspace may read its own
 * state. */
int state_shared(struct store *store, const char *consumer, const char *producer, bool *ret_shared, struct err *err);

/* The other workspaces with access, sorted by name: column id, and `total`. A row with a null id if the page is
 * empty. */
int consumers_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err);

/* Adds consumers. They apply unless the state is shared with the organization or the project. ERR_INVALID if an id is
 * not another workspace of the organization. */
int consumers_add(struct store *store, const char *workspace_id, const json_t *ids, struct err *err);
/* Replaces all consumers. */
int consumers_replace(struct store *store, const char *workspace_id, const json_t *ids, struct err *err);
int consumers_remove(struct store *store, const char *workspace_id, const json_t *ids, struct err *err);

#endif
