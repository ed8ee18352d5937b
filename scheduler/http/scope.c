/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/scope.h"

#include "scheduler/http/path/path_object.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/organizations.sql.h"
#include "scheduler/store/workspaces/workspaces.h"
#include "scheduler/store/workspaces/workspaces.sql.h"

int scope_organization(const struct request *req, struct scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope = {.workspace_name = ""};
	const struct organization_lookup_row *organization;

	if (!path_object_take(req, PATH_ORGANIZATION, &rows) &&
		organization_lookup(req->store, param(req, "organization"), &rows, err) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "organization not found");
	organization = row_of(organization_lookup, &rows, 0);
	text_copy(scope.organization.text, sizeof(scope.organization.text), organization->id);
	text_copy(scope.organization_name, sizeof(scope.organization_name), organization->name);
	*ret_scope = scope;
	return may(req, (struct place){.organization = scope.organization.text}, "organization", err);
}

int scope_workspace_read(const struct request *req, const struct rows *rows, struct scope *ret_scope, struct err *err)
{
	const struct workspace_lookup_row *workspace;
	struct scope scope;

	if (!rows->count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	workspace = row_of(workspace_lookup, rows, 0);
	text_copy(scope.organization.text, sizeof(scope.organization.text), workspace->organization_id);
	text_copy(scope.organization_name, sizeof(scope.organization_name), workspace->organization_name);
	text_copy(scope.workspace.text, sizeof(scope.workspace.text), workspace->id);
	text_copy(scope.workspace_name, sizeof(scope.workspace_name), workspace->name);
	*ret_scope = scope;
	return may(req, (struct place){.organization = scope.organization.text, .workspace = scope.workspace.text},
		"workspace", err);
}

int scope_workspace_id(const struct request *req, const char *workspace_id, struct scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (workspace_lookup(req->store, workspace_id, &rows, err) < 0)
		return -1;
	return scope_workspace_read(req, &rows, ret_scope, err);
}

int scope_workspace_named(
	const struct request *req, const char *organization, const char *name, struct scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (workspace_lookup_named(req->store, organization, name, &rows, err) < 0)
		return -1;
	return scope_workspace_read(req, &rows, ret_scope, err);
}

int scope_workspace(const struct request *req, struct scope *ret_scope, struct err *err)
{
	if (*param(req, "workspace"))
		return scope_workspace_id(req, param(req, "workspace"), ret_scope, err);
	return scope_workspace_named(req, param(req, "organization"), param(req, "name"), ret_scope, err);
}
