/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VARIABLES_SSH_KEYS_H
#define SCHEDULER_STORE_VARIABLES_SSH_KEYS_H

/* Private SSH keys with which an organization's runs fetch modules. They are sealed. Only the worker of a run receives
 * them. */

#include "scheduler/store/store.h"

struct ssh_key {
	const char *name, *value; /* NULL for an update: unchanged */
};

/* Sorted by name: columns id, organization_id, name and `total`; a row with a null id if the page is empty. */
int ssh_keys_list(struct store *store, const char *organization_id, struct list_range range, struct rows *ret_rows,
	struct err *err);
/* ERR_NOT_FOUND. */
int ssh_key_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken". */
int ssh_key_create(struct store *store, const char *organization_id, const struct ssh_key *key, struct id *ret_id,
	struct err *err);
int ssh_key_update(struct store *store, const char *id, const struct ssh_key *key, struct err *err);
/* Workspaces that use the key have none afterwards. */
int ssh_key_delete(struct store *store, const char *id, struct err *err);
/* Sets the workspace's key; NULL: none. ERR_INVALID if it is not in the workspace's organization. */
int ssh_key_assign(struct store *store, const char *workspace_id, const char *id, struct err *err);

#endif
