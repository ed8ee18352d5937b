/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_COST_ESTIMATES_H
#define SCHEDULER_STORE_COST_ESTIMATES_H

/* Cost estimates: ce-X is that of run-X. Their status follows the run's stage (store/changes.c), all else is a
 * worker's. */

#include "scheduler/store/store.h"

/* Whether runs of a workspace w of an organization o get one. */
#define COST_ESTIMATION(w, o)                                                                                          \
	"coalesce(coalesce(" w ".settings -> 'cost-estimation-enabled', " o                                            \
	".settings -> 'cost-estimation-enabled') = 'true'::jsonb, false)"

/* Makes the estimate of a new run, if its workspace wants one or, where that says nothing, its organization. Returns
 * the STAGE_BITs of its stages: none for a run with targets, whose estimate is skipped, since a part of a plan would
 * be taken for the whole. In the transaction that creates the run. */
int cost_estimate_create(
	struct store *store, const char *run_id, bool has_targets, uint32_t *ret_stages, struct err *err);
/* Keeps what a worker found (proto/README.md, "A cost estimate"). ERR_INVALID for a document of another form. */
int cost_estimate_keep(struct store *store, const char *run_id, const json_t *document, struct err *err);
/* One row: all columns and organization_id. ERR_NOT_FOUND. */
int cost_estimate_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same of many ids, those that are there; for later (db_ask). */
int cost_estimate_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

#endif
