/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REMOTE_STATE_H
#define SCHEDULER_STORE_REMOTE_STATE_H

/*
 * Whose runs may read a workspace's state: those of every workspace in its organization (global-remote-state), of
 * every one in its project (project-remote-state), or else of its consumers.
 */

#include "scheduler/store/store.h"

/* Whether runs of `consumer` may read the state of `producer` (ids of workspaces): a workspace may read its own. */
int state_shared(struct store *store, const char *consumer, const char *producer, bool *ret_shared, struct err *err);

/* The workspaces that may, but itself, by name: column id, and `total`. A row with a null id if the page is empty. */
int consumers_list(struct store *store, const char *workspace_id, long long limit, long long offset,
	struct rows *ret_rows, struct err *err);

/* Consumers, beside what is shared with more. ERR_INVALID if one is not another workspace of the organization. */
int consumers_add(struct store *store, const char *workspace_id, const json_t *ids, struct err *err);
/* Nobody but these. */
int consumers_replace(struct store *store, const char *workspace_id, const json_t *ids, struct err *err);
int consumers_remove(struct store *store, const char *workspace_id, const json_t *ids, struct err *err);

#endif
