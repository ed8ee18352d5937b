/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VARIABLES_VARIABLES_H
#define SCHEDULER_STORE_VARIABLES_VARIABLES_H

/*
 * Variables of a workspace or a variable set. Every value is sealed, with the variable's id as context. A sensitive
 * value is opened only for a run's snapshot. The columns read are the table's: id, workspace_id, varset_id (one of them
 * is null), key, value_sealed, description, category, hcl, sensitive, version_id, created_at.
 */

#include "scheduler/store/store.h"

/* The limit in bytes for the JSON of one run's variables: those of its snapshot and its own (runs/run_create.c). */
enum { RUN_VARIABLES_LIMIT = 16 << 20 };

struct variable {
	const char *key, *value, *description; /* description may be NULL */
	const char *category;                  /* "terraform" or "env" */
	bool hcl, sensitive;
};

/* The owner of variables. Borrowed. */
struct variable_owner {
	const char *id;
	bool is_set; /* a variable set's id; else a workspace's */
};

/* All variables of the owner, sorted by key. */
int variables_list(struct store *store, const struct variable_owner *owner, struct rows *ret_rows, struct err *err);
/* One page of them, with `total`; a row with a null id if the page is empty. */
int variables_page(struct store *store, const struct variable_owner *owner, struct list_range range,
	struct rows *ret_rows, struct err *err);
/* The variables with these ids, sorted by key. The rows are available later (db_ask). */
int variables_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int variable_read(struct store *store, const struct variable_owner *owner, const char *id, struct rows *ret_rows,
	struct err *err);
/*
 * ERR_INVALID "Key has already been taken", or if the owner has the maximum number of variables. Also if the owner is a
 * global set and another global set has a variable of that name and category.
 */
int variable_create(struct store *store, const struct variable_owner *owner, const struct variable *variable,
	struct id *ret_id, struct err *err);
/* Replaces all fields; a NULL value leaves the value unchanged. The version id changes. */
int variable_update(struct store *store, const struct variable_owner *owner, const char *id,
	const struct variable *variable, struct err *err);
int variable_delete(struct store *store, const struct variable_owner *owner, const char *id, struct err *err);

/*
 * The effective variables of a run in the workspace. For each name and category this is the one with the highest
 * precedence, among the workspace's own variables and those of the sets that apply to it. Sorted by category and key.
 * An additional column, beats_run, is true if it also overrides a variable of a single run.
 */
int variables_effective(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);
/* The same, with a column `bytes`: the total size of all sealed values. If it exceeds `limit`, value_sealed is null in
 * every row. */
int variables_effective_within(
	struct store *store, const char *workspace_id, long long limit, struct rows *ret_rows, struct err *err);

#endif
