/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_COST_ESTIMATE_H
#define WORKER_COST_ESTIMATE_H

/* Makes the document of a cost estimate for the scheduler (proto/README.md, "A cost estimate"). */

#include "common/buf.h"
#include "worker/cost/book.h"
#include "worker/cost/decimal.h"

/* Estimates a plan with the books. `env` is the run's environment, as an object of texts, or NULL. Pure.
 * ERR_MALFORMED if the text is no plan, ERR_TOO_LARGE if the sums overflow. */
int estimate_plan(
	const struct books *books, const json_t *env, struct bytes plan, json_t **ret_document, struct err *err);
/* Sets a member to the amount as a text, with at least two decimals. */
void amount_set(json_t *object, const char *name, struct decimal amount);
/* The document of an estimate that failed. A new reference. */
json_t *estimate_errored(const char *why);

#endif
