/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INCLUDE_RESOLVER_H
#define SCHEDULER_API_INCLUDE_RESOLVER_H

/*
 * Resolves a request's `include`, relation by relation. Each step uses one round trip, and one query for each row of
 * the table, whatever the number of resources. Included resources never form a cycle, because clients would follow it
 * forever.
 */

#include "scheduler/api/kinds.h"
#include "scheduler/http/scope.h"

struct inclusion {
	const char *name;                 /* in `include`; "run.created_by" includes "run" too */
	const char *from;                 /* the type of the resources that have the relation */
	const char *relation;             /* to one or to many */
	const struct resource_kind *kind; /* NULL: the name is accepted, and this table includes nothing for it */
};

/* Refuses (400) an `include` that is not in the table. A relation of an included resource must follow, in the table,
 * the row that includes that resource. */
int includes_check(const struct request *req, const struct inclusion *table, size_t count, struct err *err);
/* Gives the included resources for `data`, a resource or an array of them (borrowed). A new reference, or NULL if the
 * request has no `include`. */
int includes_follow(const struct request *req, const struct inclusion *table, size_t count, const json_t *data,
	json_t **ret_included, struct err *err);

/* The first steps of a list of `:organization`: checks `include`, reads the page and checks the permission. */
int list_begin(const struct request *req, const struct inclusion *table, size_t count, struct scope *ret_scope,
	struct page *ret_page, struct err *err);

/* Rows of a kind, and the relations that may be included. Rows of a list have the column `total`; an empty list has one
 * row with a null id. */
struct listing {
	const struct rows *rows;
	const struct resource_kind *kind;
	const struct inclusion *includes;
	size_t includes_count;
};
/* {"data": ...} of the first row, with the included resources. */
int respond_row(struct request *req, struct response *res, int status, const struct listing *listing, struct err *err);
/* Answers with a page. `total` is read from the rows. */
int respond_rows(
	struct request *req, struct response *res, struct page *page, const struct listing *listing, struct err *err);

#endif
