/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_PRICE_H
#define WORKER_COST_PRICE_H

/* The monthly cost of one resource in a plan, by the price books. */

#include "worker/cost/book.h"
#include "worker/cost/decimal.h"

/* Borrowed; each may be NULL. */
struct value_tree {
	const json_t *values;
	const json_t *unknown;   /* true for values that are known only after the apply; the same shape */
	const json_t *sensitive; /* true for sensitive values; the same shape */
};

/* The trees that the paths in a book's attributes lead into, by prefix. */
struct values {
	struct value_tree planned; /* without a prefix: the resource, before or after; no `values`: it does not exist */
	struct value_tree each;    /* "each.": the element of a repeated block */
	struct value_tree provider; /* "provider.": {"region": "eu-west-1"} */
	struct value_tree env;      /* "env.": {"AWS_REGION": "eu-west-1"} */
};

struct pricing {
	bool matched;
	struct decimal monthly;
	json_t *components; /* [{"name", "unit", "quantity", "price", "monthly-cost", "source", "date"}]; owned */
	char reason[256];   /* if it is not matched: a sentence without any sensitive value */
};

void pricing_release(struct pricing *pricing);
/* Tries the books from the last to the first. Skips a book that has the type but no price for these values. */
void price_resource(
	const struct books *books, const char *type, const struct values *values, struct pricing *ret_pricing);

#endif
