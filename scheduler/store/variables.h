/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VARIABLES_H
#define SCHEDULER_STORE_VARIABLES_H

/*
 * The variables of a workspace or a variable set. Every value is sealed, with the variable's id as context; a sensitive
 * one is opened only for a run's snapshot. The columns read are the table's: id, workspace_id, varset_id (one of them
 * is null), key, value_sealed, description, category, hcl, sensitive, version_id, created_at.
 */

#include "scheduler/store/store.h"

/* The most bytes of JSON that the variables of one run may take: those of its snapshot and its own (dispatch/order.c).
 */
enum { RUN_VARIABLES_LIMIT = 16 << 20 };

struct variable {
	const char *key, *value, *description; /* description may be NULL */
	const char *category;                  /* "terraform" or "env" */
	bool hcl, sensitive;
};

/* Whose variables. Borrowed. */
struct variable_owner {
	const char *id;
	bool is_set; /* a variable set's id; else a workspace's */
};

/* All of the owner's, by key. */
int variables_list(struct store *store, const struct variable_owner *owner, struct rows *ret_rows, struct err *err);
/* Those with these ids, by key; for later (db_ask). */
int variables_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int variable_read(struct store *store, const struct variable_owner *owner, const char *id, struct rows *ret_rows,
	struct err *err);
/*
 * ERR_INVALID "Key has already been taken", if the owner has its fill, or if the owner is a global set and another one
 * has a variable of that name.
 */
int variable_create(struct store *store, const struct variable_owner *owner, const struct variable *variable,
	struct id *ret_id, struct err *err);
/* Sets all of it; a NULL value leaves the value as it is. The version id changes. */
int variable_update(struct store *store, const struct variable_owner *owner, const char *id,
	const struct variable *variable, struct err *err);
int variable_delete(struct store *store, const struct variable_owner *owner, const char *id, struct err *err);

/*
 * What a run in the workspace gets: of each name and category the strongest one among its own variables and those of
 * the sets that apply to it, by category and key. A further column, beats_run, is true for one that is stronger even
 * than what is set for a single run.
 */
int variables_effective(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);
/* The same, and a column `bytes`: how many bytes all values take. If they are more than `limit`, value_sealed is null
 * in every row. */
int variables_effective_within(
	struct store *store, const char *workspace_id, long long limit, struct rows *ret_rows, struct err *err);

#endif
