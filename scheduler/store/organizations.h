/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ORGANIZATIONS_H
#define SCHEDULER_STORE_ORGANIZATIONS_H

/* Organizations. Clients know them by name, in any case; everything inside refers to their id. */

#include "scheduler/store/store.h"

struct organization_order {
	const char *name;
	const char *email;
	const json_t *settings; /* an object; NULL: none */
	const char *pool_id;    /* the default agent pool, or NULL */
	const char *owner;      /* user id: the first of its owners */
};

/* With its default project and the teams that each has. In a transaction of its own or the caller's. ERR_INVALID "Name
 * has already been taken". */
int organization_create(
	struct store *store, const struct organization_order *order, struct id *ret_id, struct err *err);
/* Makes the user a member, also one that was only invited; nothing happens if it is one. */
int organization_join(struct store *store, const char *organization_id, const char *user_id, struct err *err);
/* The columns id, name, email, settings, default_pool_id, created_at, default_project_id, retention_id and retains_all
 * (its data retention policy). ERR_NOT_FOUND. */
int organization_read(struct store *store, const char *name, struct rows *ret_rows, struct err *err);
/* The same for many names, those that are there, by name; for later (db_ask). */
int organizations_read_all(struct store *store, struct db_array *names, struct rows *ret_rows, struct err *err);

struct organization_list {
	const char *user_id; /* only this member's; NULL: all */
	const char *search;  /* part of the name or the email, or NULL */
	long long limit, offset;
};
/* The same columns and `total`, by name. */
int organizations_list(
	struct store *store, const struct organization_list *list, struct rows *ret_rows, struct err *err);

struct organization_update {
	const char *id;
	const char *name, *email; /* NULL: as they are */
	const json_t *settings;   /* the members that change */
	bool pool_set;            /* the default agent pool is pool_id from now on */
	const char *pool_id;      /* or NULL */
};
int organization_update(struct store *store, const struct organization_update *update, struct err *err);
/* With everything in it, as workspace_delete does. ERR_CONFLICT while an apply is underway. */
int organization_delete(struct store *store, const char *id, struct err *err);
/* Columns `pending` and `running`: its runs that wait and that are being worked on. */
int organization_capacity(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

#endif
