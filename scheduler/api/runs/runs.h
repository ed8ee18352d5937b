/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_RUNS_H
#define SCHEDULER_API_RUNS_RUNS_H

#include "scheduler/api/api.h"
#include "scheduler/runs/waiting/run_waits.h"
#include "scheduler/store/runs/run_views.sql.h"

/* The run in the path's `:run`, if the actor has the route's permission: run_of(&rows). ERR_NOT_FOUND. */
int run_in_path(struct request *req, struct rows *ret_rows, struct err *err);
#define run_of(rows) row_of(run_view, rows, 0)
/* The run's own variables: an array of {key, value}. A new reference. ERR_INTERNAL if they can't be decrypted. */
int run_variables(struct store *store, const struct run_view_row *run, json_t **ret_variables, struct err *err);
/* Whether the run would be force-canceled now. */
bool run_is_force_cancelable(const struct run_view_row *row);
/* A run_view_row as a resource. ERR_INTERNAL if its variables can't be decrypted. */
int run_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err);
/* Why a run waits, as the attributes of a resource. A new reference. */
json_t *wait_shown(const struct run_wait *wait);
/* Answers with a part of the run's plan, which the actor may read; 204: it was not uploaded. ERR_NOT_FOUND if the plan
 * was deleted. */
enum plan_part { PLAN_JSON, PLAN_SCHEMAS };
int plan_part_respond(
	struct request *req, struct response *res, const char *run_id, enum plan_part part, struct err *err);
/* Answers with the run and the resources that the request includes. */
int run_show(struct request *req, struct response *res, int status, const struct run_view_row *run, struct err *err);

#endif
