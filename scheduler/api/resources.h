/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RESOURCES_H
#define SCHEDULER_API_RESOURCES_H

/* Answers with resources of one kind, and the resources that the request includes. */

#include "scheduler/api/kinds.h"
#include "scheduler/http/scope.h"

struct resource_rows {
	const struct resource_kind *kind;
	const struct rows *rows;
};

/* {"data": ...} of the first row. */
int respond_row(
	struct request *req, struct response *res, int status, const struct resource_rows *rows, struct err *err);
/* One page of a list. Its rows have the column `total`; an empty page has one row with a null id. */
int respond_rows(struct request *req, struct response *res, struct page *page, const struct resource_rows *rows,
	struct err *err);

/* A list that a request reads page by page. */
struct resource_list {
	const struct resource_kind *kind; /* without `includes`, any `include` is ignored */
	/* Finds the organization or workspace that has the list, and checks the permission; NULL: the site has it. */
	int (*scope)(const struct request *req, struct scope *ret_scope, struct err *err);
	/* Reads one page for respond_rows. */
	int (*read)(const struct request *req, const struct scope *scope, const struct page *page,
		struct rows *ret_rows, struct err *err);
};

int respond_list(struct request *req, struct response *res, const struct resource_list *list, struct err *err);
/* The same for a short list that clients read without pages: without a page parameter the answer has all rows (up to
 * MAX_WHOLE_LIST) and no pagination. */
enum { MAX_WHOLE_LIST = 10000 };
int respond_whole_list(struct request *req, struct response *res, const struct resource_list *list, struct err *err);

#endif
