/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_MATCH_H
#define WORKER_COST_MATCH_H

#include "worker/cost/book.h"
#include "worker/cost/decimal.h"
#include "worker/cost/values.h"

/* What a resource costs a month, or why no book can say. */
struct pricing {
	bool matched;
	struct decimal monthly;
	json_t *components; /* [{"name", "unit", "quantity", "price", "monthly-cost", "source", "date"}]; owned */
	char reason[256];   /* if it is not matched: a sentence without any sensitive value */
};

void pricing_release(struct pricing *pricing);
/* Asks the books from the last to the first; one that has the type and no price for these values is passed over. */
void price_resource(
	const struct books *books, const char *type, const struct values *values, struct pricing *ret_pricing);

#endif
