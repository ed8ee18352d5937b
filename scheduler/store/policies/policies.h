/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICIES_POLICIES_H
#define SCHEDULER_STORE_POLICIES_POLICIES_H

/*
 * An organization's policies: a text and an enforcement level each. Policy sets refer to them
 * (store/policies/policy_sets.h).
 *
 * Rows are policy_row.
 */

#include "scheduler/store/store.h"

enum { POLICY_SOURCE_LIMIT = 1 << 20 };

struct policy {
	const char *name, *description;
	const char *kind;  /* "opa" or "sentinel" */
	const char *query; /* only for OPA; else NULL */
	const char *enforcement;
};

struct policy_list {
	const char *organization_id;
	const char *search; /* part of the name, or NULL */
	const char *kind;   /* or NULL */
	const char *sort;   /* "-name" reverses the order; or NULL */
	long long limit, offset;
};
/* Sorted by name, with `total`; a row with a null id if the page is empty. */
int policies_list(struct store *store, const struct policy_list *list, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int policy_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Reads the policies with these ids. The rows are available later (db_ask). */
int policies_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* ERR_INVALID "Name has already been taken". */
int policy_create(struct store *store, const char *organization_id, const struct policy *policy, struct id *ret_id,
	struct err *err);
/* Sets the description, the query and the enforcement level. */
int policy_update(struct store *store, const char *id, const struct policy *policy, struct err *err);
int policy_delete(struct store *store, const char *id, struct err *err);
/* Stores the policy's text. */
int policy_upload(struct store *store, const char *id, const void *bytes, size_t len, struct err *err);

#endif
