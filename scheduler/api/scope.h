/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SCOPE_H
#define SCHEDULER_API_SCOPE_H

/* What a request's path is about: found, and the actor may do there what the route says. Else ERR_NOT_FOUND. */

#include "scheduler/api/api.h"

struct scope {
	struct id organization;
	char organization_name[128]; /* as it was given when it was made */
	struct id workspace;         /* scope_workspace only */
	char workspace_name[128];
};

/* `:organization` (a name). */
int scope_organization(const struct request *req, struct scope *ret_scope, struct err *err);
/* `:workspace` (an id), or `:name` within `:organization`. */
int scope_workspace(const struct request *req, struct scope *ret_scope, struct err *err);
/* The workspace by its name. */
int scope_workspace_named(const struct request *req, const char *organization, const char *name,
	struct scope *ret_scope, struct err *err);
/* The workspace with that id, wherever the id comes from. */
int scope_workspace_id(const struct request *req, const char *workspace_id, struct scope *ret_scope, struct err *err);
/* The same in two parts, for who reads the workspace's things in the same round trip (db_gather): they are to be shown
 * only if scope_workspace_read finds nothing against it. */
int scope_workspace_ask(const struct request *req, const char *workspace_id, struct rows *ret_rows, struct err *err);
int scope_workspace_read(const struct request *req, const struct rows *rows, struct scope *ret_scope, struct err *err);

#endif
