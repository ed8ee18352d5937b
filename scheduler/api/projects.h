/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_PROJECTS_H
#define SCHEDULER_API_PROJECTS_H

#include "scheduler/api/api.h"

/* A row of store/projects.h. */
json_t *project_resource(const struct rows *rows, int row);
/* One project for an `included` list. ERR_NOT_FOUND. */
int project_included(struct store *store, const char *project_id, json_t **ret_resource, struct err *err);

#endif
