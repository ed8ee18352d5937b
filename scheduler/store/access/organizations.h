/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_ORGANIZATIONS_H
#define SCHEDULER_STORE_ACCESS_ORGANIZATIONS_H

/* Organizations. Clients refer to them by name, case-insensitively; all other rows refer to their id. */

#include "scheduler/store/store.h"

struct organization_order {
	const char *name;
	const char *email;
	const json_t *settings; /* a JSON object; NULL: none */
	const char *pool_id;    /* the default agent pool, or NULL */
	const char *owner;      /* user id: its first owner */
};

/* Creates an organization with its default project and its built-in teams. Uses the caller's transaction, or its own.
 * ERR_INVALID "Name has already been taken". */
int organization_create(
	struct store *store, const struct organization_order *order, struct id *ret_id, struct err *err);
/* The shape `organization`. ERR_NOT_FOUND. */
int organization_read(struct store *store, const char *name, struct rows *ret_rows, struct err *err);
/* The same for many names, sorted by name; unknown names are skipped. The rows are available later (db_ask). */
int organizations_read_all(struct store *store, struct db_array *names, struct rows *ret_rows, struct err *err);
/* A quick read for checks: columns id and name (as spelled at its creation). No row if there is none. */
int organization_lookup(struct store *store, const char *name, struct rows *ret_rows, struct err *err);
/* The same, available later (db_ask). */
int organization_lookup_ask(struct store *store, const char *name, struct rows *ret_rows, struct err *err);

struct organization_list {
	const char *user_id;      /* only organizations of this member; NULL: all */
	const char *search;       /* part of the name or the email, or NULL */
	const char *name, *email; /* part of it, or NULL */
	long long limit, offset;
};
/* The same and `total`, by name. */
int organizations_list(
	struct store *store, const struct organization_list *list, struct rows *ret_rows, struct err *err);

/* The number of organizations that the person owns. */
int organizations_count_owned(struct store *store, const char *user_id, long long *ret_count, struct err *err);

struct organization_update {
	const char *id;
	const char *name, *email; /* NULL: unchanged */
	const json_t *settings;   /* the members to change */
	bool pool_set;            /* set the default agent pool to pool_id */
	const char *pool_id;      /* or NULL */
};
int organization_update(struct store *store, const struct organization_update *update, struct err *err);
/* Deletes the organization with everything in it, as workspace_delete does. ERR_CONFLICT while an apply runs or a
 * workspace is held. */
int organization_delete(struct store *store, const char *id, struct err *err);
/* Columns `pending` and `running`: numbers of jobs that wait and that are claimed. */
int organization_capacity(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

#endif
