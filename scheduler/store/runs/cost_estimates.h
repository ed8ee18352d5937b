/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_COST_ESTIMATES_H
#define SCHEDULER_STORE_RUNS_COST_ESTIMATES_H

/* Cost estimates: ce-X belongs to run-X. Its status follows the run's stage (store/runs/changes.c); a worker supplies
 * everything else. */

#include "scheduler/store/store.h"

/* Creates the estimate of a new run if the setting of its workspace, or by default that of its organization, enables
 * it. Returns the STAGE_BITs of its stages. A run with targets gets a skipped estimate and no stages, since the cost of
 * a partial plan could be mistaken for the total. Call it in the transaction that creates the run. */
int cost_estimate_create(
	struct store *store, const char *run_id, bool has_targets, uint32_t *ret_stages, struct err *err);
/* Stores a worker's result (proto/README.md, "A cost estimate"). ERR_INVALID for a malformed document. */
int cost_estimate_keep(struct store *store, const char *run_id, const json_t *document, struct err *err);
/* One cost_estimate_row. ERR_NOT_FOUND. */
int cost_estimate_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int cost_estimate_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

#endif
