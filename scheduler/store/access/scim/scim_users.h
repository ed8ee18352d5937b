/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ACCESS_SCIM_SCIM_USERS_H
#define SCHEDULER_STORE_ACCESS_SCIM_SCIM_USERS_H

/*
 * Users that an identity provider maintains by SCIM. Each has an account that SCIM made: SCIM never takes over an
 * existing account, whatever its name or address. An error has the SCIM error type as its title, unless that follows
 * from its kind (api/scim/respond.c).
 */

#include "scheduler/scim/filter.h"
#include "scheduler/store/store.h"

enum { SCIM_ID_SIZE = 37 };

/* Texts are borrowed. */
struct scim_user_draft {
	const char *user_name, *external_id; /* external_id may be NULL */
	const char *attributes;              /* JSON: the other attributes of the document (scim/document.h) */
	const char *email;
	bool active; /* of a new user */
};

/* Which resources a list has. */
struct scim_list {
	enum { SCIM_BY_ALL, SCIM_BY_NAME, SCIM_BY_EXTERNAL_ID, SCIM_BY_ID, SCIM_BY_FILTER } by;
	const char *value;                            /* of the first three selections after SCIM_BY_ALL */
	const struct scim_alternatives *alternatives; /* of SCIM_BY_FILTER */
	long long limit, offset;
	bool members; /* of groups: with their members */
};
/* The parameters of a filter for statements. */
struct scim_conditions {
	struct db_array alternatives, names, subs, operators, values, exact, negated;
};
/* ERR_MALFORMED "invalidFilter" for an attribute that resources do not have. Release it. */
int scim_conditions_make(
	const struct scim_alternatives *alternatives, struct scim_conditions *ret_conditions, struct err *err);
void scim_conditions_release(struct scim_conditions *conditions);

/* Creates a user and its account, in the caller's transaction. ERR_CONFLICT if a user or another account
 * has the name. */
int scim_user_create(
	struct store *store, const struct scim_user_draft *draft, char ret_id[SCIM_ID_SIZE], struct err *err);
/* Replaces what the provider says of the user. The account keeps its name. */
int scim_user_update(struct store *store, const char *id, const struct scim_user_draft *draft, struct err *err);
/* The shape `scim_user`. ERR_NOT_FOUND. */
int scim_user_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same, and locks the user and its account. */
int scim_user_lock(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* With `total`; one row with a null id if the page is empty. */
int scim_users_list(struct store *store, const struct scim_list *list, struct rows *ret_rows, struct err *err);
/* Deletes the user. Its account stays (auth/identity/offboard.h). */
int scim_user_delete(struct store *store, const char *id, struct err *err);
/* Removes the user from its groups, and adds their ids to the array. */
int scim_user_leave(struct store *store, const char *id, struct db_array *ret_groups, struct err *err);

/* For the first sign-in of a person through the provider of SCIM's settings: the account of the SCIM user with that
 * name, or that id at the provider, unless it belongs to an identity already. Columns user_id, username, is_suspended;
 * no row: none. The row is locked until the transaction ends. */
int scim_user_unclaimed(
	struct store *store, const char *name, const char *provider_id, struct rows *ret_rows, struct err *err);

#endif
