/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INCLUDES_H
#define SCHEDULER_API_INCLUDES_H

#include "scheduler/api/api.h"

/* Refuses (400) what `include` may not name for workspaces; some of it only for one. */
int workspace_includes_check(const struct request *req, bool one, struct err *err);
/* The resources that the request's `include` names for these workspaces (an array of resources, borrowed), each once:
 * a new reference, or NULL if nothing was asked for. Adds the relations that only show when they are asked for. */
int workspace_includes(const struct request *req, json_t *workspaces, json_t **ret_included, struct err *err);

#endif
