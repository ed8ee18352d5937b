/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_WORKSPACE_INCLUDES_H
#define SCHEDULER_API_WORKSPACES_WORKSPACE_INCLUDES_H

#include "scheduler/api/api.h"

/* Refuses (400) an `include` that workspaces do not support. "readme" is accepted for a single workspace only. */
int workspace_includes_check(const struct request *req, bool one, struct err *err);
/* Gives the resources that the request's `include` names for these workspaces (an array of resources, borrowed), each
 * once. A new reference, or NULL if the request has no `include`. Adds the relations that show only with `include`. */
int workspace_includes(const struct request *req, json_t *workspaces, json_t **ret_included, struct err *err);

#endif
