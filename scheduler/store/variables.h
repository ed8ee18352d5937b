/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VARIABLES_H
#define SCHEDULER_STORE_VARIABLES_H

/*
 * A workspace's variables. Every value is sealed, with the variable's id as context; a sensitive one is opened only
 * for a run's snapshot. The columns read are the table's: id, workspace_id, key, value_sealed, description, category,
 * hcl, sensitive, version_id, created_at.
 */

#include "scheduler/store/store.h"

struct variable {
	const char *key, *value, *description; /* description may be NULL */
	const char *category;                  /* "terraform" or "env" */
	bool hcl, sensitive;
};

/* All of a workspace's, by key. */
int variables_list(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int variable_read(
	struct store *store, const char *workspace_id, const char *id, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Key has already been taken", or if the workspace has its fill. */
int variable_create(struct store *store, const char *workspace_id, const struct variable *variable, struct id *ret_id,
	struct err *err);
/* Sets all of it; a NULL value leaves the value as it is. The version id changes. */
int variable_update(struct store *store, const char *id, const struct variable *variable, struct err *err);
int variable_delete(struct store *store, const char *workspace_id, const char *id, struct err *err);

#endif
