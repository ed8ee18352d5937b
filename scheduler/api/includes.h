/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INCLUDES_H
#define SCHEDULER_API_INCLUDES_H

#include "scheduler/api/api.h"

/* What `include` may name for workspaces. */
extern const char *const workspace_includes_known[];

/* The resources that the request's `include` names for these workspaces (an array of resources, borrowed), each once:
 * a new reference, or NULL if nothing was asked for. Adds the relation `outputs` where those are asked for. */
int workspace_includes(const struct request *req, json_t *workspaces, json_t **ret_included, struct err *err);

#endif
