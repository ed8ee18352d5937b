/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_SCOPE_H
#define SCHEDULER_HTTP_SCOPE_H

/* Finds the organization or workspace of a request's path and checks the route's permission. ERR_NOT_FOUND if it does
 * not exist, or the actor does not have the permission. */

#include "scheduler/http/request.h"

struct scope {
	struct id organization;
	char organization_name[128]; /* as spelled at its creation */
	struct id workspace;         /* scope_workspace only */
	char workspace_name[128];
};

/* `:organization` (a name). */
int scope_organization(const struct request *req, struct scope *ret_scope, struct err *err);
/* `:workspace` (an id), or `:name` within `:organization`. */
int scope_workspace(const struct request *req, struct scope *ret_scope, struct err *err);
/* The workspace by its organization's name and its own name. */
int scope_workspace_named(const struct request *req, const char *organization, const char *name,
	struct scope *ret_scope, struct err *err);
/* The workspace with that id, which need not be from the path. */
int scope_workspace_id(const struct request *req, const char *workspace_id, struct scope *ret_scope, struct err *err);
/* The second part of scope_workspace_id, from the row of workspace_lookup_ask. For callers that read the workspace's
 * objects in the same round trip (db_gather): they may show those objects only if it returns 0. */
int scope_workspace_read(const struct request *req, const struct rows *rows, struct scope *ret_scope, struct err *err);

#endif
