/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_MATCH_H
#define WORKER_COST_MATCH_H

#include "worker/cost/book.h"
#include "worker/cost/decimal.h"
#include "worker/cost/values.h"

/* The monthly cost of a resource, or why no book has a price. */
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
