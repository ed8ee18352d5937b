/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_ASSESSMENTS_ASSESSMENT_RESULTS_H
#define SCHEDULER_STORE_ASSESSMENTS_ASSESSMENT_RESULTS_H

/* Reads the results of health assessments (runs/assessments/assessments.h makes them). */

#include "scheduler/store/store.h"

/* A page of the workspace's results, the newest first: assessment_result_row with `total`; a row with a null id if the
 * page is empty. */
int assessment_results_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err);
/* One assessment_result_row. ERR_NOT_FOUND. */
int assessment_result_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int assessment_results_ask(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* One workspace_health_row. ERR_NOT_FOUND. */
int workspace_health(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);

#endif
