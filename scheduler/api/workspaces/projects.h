/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_PROJECTS_H
#define SCHEDULER_API_WORKSPACES_PROJECTS_H

#include "scheduler/api/api.h"
#include "scheduler/store/workspaces/projects.sql.h"

/* The project in the path, if the actor has the route's permission: a row of store/workspaces/projects.h.
 * ERR_NOT_FOUND. */
int project_in_path(struct request *req, struct rows *ret_rows, struct err *err);
struct place place_of_project(const struct project_row *project);

#endif
