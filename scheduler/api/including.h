/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INCLUDING_H
#define SCHEDULER_API_INCLUDING_H

/*
 * What a request's `include` asks for, followed relation by relation: one query for each kind, whatever the number of
 * resources, and one round trip for all that the same resources lead to. No two included resources lead to one another
 * in a circle, which clients would follow for ever.
 */

#include "scheduler/api/kinds.h"
#include "scheduler/api/scope.h"

struct inclusion {
	const char *name;                 /* as `include` has it; "run.created_by" brings "run" along */
	const char *from;                 /* the type of the resources that have the relation */
	const char *relation;             /* to one or to many */
	const struct resource_kind *kind; /* NULL: the name is known, and there is nothing behind it */
};

/* A table has what is followed from an included resource after what includes that. Refuses (400) what it lacks. */
int includes_check(const struct request *req, const struct inclusion *table, size_t count, struct err *err);
/* The resources for a resource or an array of them (borrowed): a new reference, NULL if nothing was asked for. */
int includes_follow(const struct request *req, const struct inclusion *table, size_t count, const json_t *data,
	json_t **ret_included, struct err *err);

/* How a list of `:organization` begins: what may be included, the page, and that the actor may. */
int list_begin(const struct request *req, const struct inclusion *table, size_t count, struct scope *ret_scope,
	struct page *ret_page, struct err *err);

/* Rows of a kind, and what may be included with them. A list's have `total`, and one with a null id if it is empty. */
struct listing {
	const struct rows *rows;
	const struct resource_kind *kind;
	const struct inclusion *includes;
	size_t includes_count;
};
/* {"data": ...} of the first row, with what is included. */
int respond_row(struct request *req, struct response *res, int status, const struct listing *listing, struct err *err);
/* A page; `total` is read from the rows. */
int respond_rows(
	struct request *req, struct response *res, struct page *page, const struct listing *listing, struct err *err);

#endif
