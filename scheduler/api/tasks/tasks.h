/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TASKS_TASKS_H
#define SCHEDULER_API_TASKS_TASKS_H

#include "scheduler/api/api.h"

/* Reads the stages of a task from `list` (an array, or NULL): known stages without duplicates, in the order sent. A new
 * reference. ERR_INVALID at the pointer. */
int task_stages_read_names(const json_t *list, const char *pointer, json_t **ret_stages, struct err *err);
/* ERR_INVALID at the pointer unless the text is an enforcement level of run tasks. */
int task_enforcement_check(const char *level, const char *pointer, struct err *err);

/* The run task in the path's `:task`, if the actor has the route's permission: row_of(task, &rows, 0). */
int task_in_path(const struct request *req, struct rows *ret_rows, struct err *err);

/* A workspace_task_row as a resource. */
json_t *workspace_task_resource(const void *of_row);

#endif
