/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICIES_POLICY_VIEWS_H
#define SCHEDULER_STORE_POLICIES_POLICY_VIEWS_H

/*
 * Read access to policies of runs: OPA's evaluations and Sentinel's checks (rows of policy_evaluations), and the
 * outcome of each policy set.
 *
 * Rows are policy_evaluation_row and policy_outcome_row.
 */

#include "scheduler/store/store.h"

/* The evaluation of a run, of one kind ("opa", "sentinel"): none or one row. */
int policy_evaluations_view(
	struct store *store, const char *run_id, const char *kind, struct rows *ret_rows, struct err *err);
/* The evaluation with that id and kind. ERR_NOT_FOUND. */
int policy_evaluation_view(
	struct store *store, const char *id, const char *kind, struct rows *ret_rows, struct err *err);

/* Many evaluations by their ids; unknown ids are skipped. The rows are available later (db_ask). */
int policy_evaluation_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);

/* The outcomes of an evaluation's policy sets, sorted by name. */
int policy_outcomes_view(struct store *store, const char *evaluation_id, struct rows *ret_rows, struct err *err);
/* One outcome, with organization_id and workspace_id. ERR_NOT_FOUND. */
int policy_outcome_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

#endif
