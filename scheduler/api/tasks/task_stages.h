/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TASKS_TASK_STAGES_H
#define SCHEDULER_API_TASKS_TASK_STAGES_H

#include "scheduler/api/api.h"

/* A task_result_row as a resource. A new reference. */
json_t *task_result_resource(const void *of_row);
/* The task stage in the path's `:stage`, if the actor has the route's permission: a task_stage_row. */
int task_stage_in_path(struct request *req, struct rows *ret_rows, struct err *err);
/* The task stages of a run, as an array. */
int task_stages_of_run(struct store *store, const char *run_id, json_t **ret_stages, struct err *err);

#endif
