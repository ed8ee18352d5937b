/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_RUN_CREATE_PARAMS_H
#define SCHEDULER_API_RUNS_RUN_CREATE_PARAMS_H

#include "scheduler/api/api.h"
#include "scheduler/runs/run_create.h"

/* Reads a new run from the body, without its workspace. Texts and lists are borrowed from the body. ERR_INVALID with a
 * pointer. */
int run_create_params_read(const struct request *req, struct run_create_params *ret_order, struct err *err);
/* The same for a test run of a module, with its options, a new reference that the caller keeps until the run is
 * created. */
int test_run_create_params_read(
	const struct request *req, struct run_create_params *ret_order, json_t **ret_options, struct err *err);
/* The same for a query run. */
int query_create_params_read(const struct request *req, struct run_create_params *ret_order, struct err *err);

#endif
