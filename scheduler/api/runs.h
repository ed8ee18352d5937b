/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_H
#define SCHEDULER_API_RUNS_H

#include "scheduler/api/api.h"

/* The run that the path's `:run` names, if the actor may what the route says: a row of run_view. ERR_NOT_FOUND. */
int run_in_path(struct request *req, struct rows *ret_rows, struct err *err);
/* A row of run_view as a resource. ERR_INTERNAL if its variables do not open. */
int run_resource(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err);
/* Answers with a row of run_view, and what is to be included. */
int run_show(struct request *req, struct response *res, int status, const struct rows *runs, int row, struct err *err);
/* A row of operation_view as a plan's or an apply's resource. A new reference. */
json_t *operation_resource(const struct store *store, const struct rows *rows, int row);

#endif
