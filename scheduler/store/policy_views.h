/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICY_VIEWS_H
#define SCHEDULER_STORE_POLICY_VIEWS_H

/*
 * The policies of runs for reading: OPA's evaluations and Sentinel's checks (rows of policy_evaluations), and what came
 * of each set.
 *
 * Columns of the first: the table's, organization_id, run_status and run_stage, task_stage_id (the run's post_plan),
 * outcomes (ids, JSON), sets (what came of each, JSON), took (ms).
 */

#include "scheduler/store/store.h"

/* A run's, of one kind ("opa", "sentinel"): none or one. */
int policy_evaluations_view(
	struct store *store, const char *run_id, const char *kind, struct rows *ret_rows, struct err *err);
/* One of that kind. ERR_NOT_FOUND. */
int policy_evaluation_view(
	struct store *store, const char *id, const char *kind, struct rows *ret_rows, struct err *err);

/* What came of each set of an evaluation: the table's columns, by name. */
int policy_outcomes_view(struct store *store, const char *evaluation_id, struct rows *ret_rows, struct err *err);
/* One with its organization_id. ERR_NOT_FOUND. */
int policy_outcome_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

#endif
