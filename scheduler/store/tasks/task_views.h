/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASKS_TASK_VIEWS_H
#define SCHEDULER_STORE_TASKS_TASK_VIEWS_H

/* Read access to task stages, task results, their outcomes and deliveries. Rows are those of task_views.sql. */

#include "scheduler/store/store.h"

/* A run's task stages, in the order of the run. Each has `results` (ids of its task results), `organization_id`,
 * `run_status` and `run_stage`. The post_plan stage has its run's OPA evaluation: `evaluations` (ids),
 * `evaluation_status`, and `override_barred` if a policy set failed that must not be overridden. */
int task_stages_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int task_stage_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* One stage. ERR_NOT_FOUND. */
int task_stage_view(struct store *store, const char *stage_id, struct rows *ret_rows, struct err *err);

/* Task results by their ids, and those of a stage (NULL: none). Each has `outcomes` (ids), `plan_only` and
 * `organization_id`. */
int task_results_view(
	struct store *store, struct db_array *ids, const char *stage_id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int task_result_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* One task result. ERR_NOT_FOUND. */
int task_result_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

int task_outcomes_view(struct store *store, const char *task_result_id, struct rows *ret_rows, struct err *err);
/* One outcome with its organization_id. ERR_NOT_FOUND. */
int task_outcome_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

/* The delivery log of a task result, the newest first. */
int task_deliveries_view(struct store *store, const char *task_result_id, struct rows *ret_rows, struct err *err);
/* Sends the request of an open task result again. ERR_CONFLICT if it is final, or its stage has not begun. */
int task_result_redeliver(struct store *store, const char *task_result_id, struct err *err);

#endif
