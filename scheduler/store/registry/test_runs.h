/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_TEST_RUNS_H
#define SCHEDULER_STORE_REGISTRY_TEST_RUNS_H

/* Test runs of modules: plan-only runs of a test bed (test_beds.h) whose job tests the module (terraform test). In the
 * API, the id of one begins with trun- in place of run-. */

#include "scheduler/store/store.h"

/* The module's test run of the id "run-...": the shape test_run. ERR_NOT_FOUND. */
int test_run_read(
	struct store *store, const char *module_id, const char *run_id, struct rows *ret_rows, struct err *err);
/* One page, the newest first. `sources`: separated by commas, or NULL. */
int test_runs_list(struct store *store, const char *module_id, const char *sources, struct list_range range,
	struct rows *ret_rows, struct err *err);

#endif
