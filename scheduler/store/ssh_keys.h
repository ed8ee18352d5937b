/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_SSH_KEYS_H
#define SCHEDULER_STORE_SSH_KEYS_H

/* Private keys that an organization's runs fetch modules with. They are sealed, and go to a run's worker only. */

#include "scheduler/store/store.h"

/* By name: columns id, organization_id, name and `total`; a row with a null id if the page is empty. */
int ssh_keys_list(struct store *store, const char *organization_id, long long limit, long long offset,
	struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int ssh_key_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken". */
int ssh_key_create(struct store *store, const char *organization_id, const char *name, const char *value,
	struct id *ret_id, struct err *err);
/* NULL leaves what it is. */
int ssh_key_update(struct store *store, const char *id, const char *name, const char *value, struct err *err);
/* Workspaces that use it go on without one. */
int ssh_key_delete(struct store *store, const char *id, struct err *err);
/* The workspace's key from now on; NULL: none. ERR_INVALID if it is none of its organization's. */
int ssh_key_assign(struct store *store, const char *workspace_id, const char *id, struct err *err);
/* The key of the workspace, appended; nothing if it has none. */
int ssh_key_open(struct store *store, const char *workspace_id, struct buf *out, struct err *err);

#endif
