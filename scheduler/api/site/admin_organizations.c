/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/site/timeouts.h"
#include "scheduler/api/workers/pools.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/relations.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/site_organizations.h"
#include "scheduler/store/access/site_organizations.sql.h"
#include "scheduler/store/workers/quotas.h"

/* All organizations of the installation, for site admins, and the settings that only site admins change. */

enum { MAX_WORKSPACES = 1000000000 };

/* Settings without effect are stored so that clients can read them back. They are those of provider sharing, because
 * there is no registry of providers, of beta tools, and of sudo for workers. */
static const struct field settings[] = {
	{"access-beta-tools", FIELD_BOOL, "false"},
	{"global-module-sharing", FIELD_BOOL, "false"},
	{"global-provider-sharing", FIELD_BOOL, "false"},
	{"is-disabled", FIELD_BOOL, "false"},
	{"terraform-worker-sudo-enabled", FIELD_BOOL, "false"},
	{"workspace-limit", FIELD_INT, "null"},
};

static json_t *admin_organization_resource(const void *of_row)
{
	const struct site_organization_row *organization = of_row;
	json_auto_t *set = json_shown(organization->admin_settings);
	json_t *attributes = json_pack("{so so so so so so sI sb}", "name", json_string_or_null(organization->name),
		"external-id", json_string_or_null(organization->id), "notification-email",
		json_string_or_null(organization->email), "created-at", time_shown(organization->created_at),
		"workspace-count", json_integer(organization->workspaces), "current-run-count",
		json_integer(organization->current_runs), "concurrent-run-limit", (json_int_t)organization->run_limit,
		"sso-enabled", 0);

	fields_show(settings, ARRAY_LEN(settings), set, attributes);
	json_object_set_new(attributes, "is-disabled", json_boolean(organization->is_disabled));
	timeouts_show(set, attributes);
	return resource_new("organizations", organization->name, attributes,
		json_pack("{so}", "owners", many_shown("users", organization->owners)));
}

static const struct inclusion includes[] = {{"owners", "organizations", "owners", &kind_users}};

static const struct resource_kind kind_admin_organizations = {
	.type = "organizations", .show = admin_organization_resource, KIND_INCLUDES(includes)};

/* ---- reading ---- */

static int list_respond(struct request *req, struct response *res, struct site_organizations *list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct page page;

	if (includes_check(req, &kind_admin_organizations, err) < 0 || page_read(req, &page, err) < 0)
		return -1;
	list->limit = page.size;
	list->offset = page.offset;
	if (site_organizations_list(req->store, list, &rows, err) < 0)
		return -1;
	return respond_rows(req, res, &page, &(struct resource_rows){&kind_admin_organizations, &rows}, err);
}

int admin_organizations_index(struct request *req, struct response *res, struct err *err)
{
	struct site_organizations list = {.search = query(req, "q")};

	return list_respond(req, res, &list, err);
}

int admin_organizations_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_admin_organizations, err) < 0 ||
		site_organization_read(req->store, param(req, "organization"), &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_admin_organizations, &rows}, err);
}

/* ---- changing ---- */

static int settings_read(const struct request *req, json_t *set, struct err *err)
{
	long long max;

	if (body_check(req, "organizations", err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), set, err) < 0 || timeouts_read(req, set, err) < 0)
		return -1;
	max = json_int_at(set, "workspace-limit", 0);
	if (max < 0 || max > MAX_WORKSPACES)
		return err_at(err, "/data/attributes/workspace-limit", "Workspace limit must be 0 (none) to %d",
			MAX_WORKSPACES);
	return 0;
}

int admin_organizations_update(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *set = json_object();
	long long run_limit = -1;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || settings_read(req, set, err) < 0 ||
		body_run_limit(req, &run_limit, err) < 0 ||
		site_organization_update(req->store, scope.organization.text, set, err) < 0)
		return -1;
	if (run_limit >= 0 &&
		quota_set(req->store, &(struct quota_owner){.organization_id = scope.organization.text}, run_limit,
			err) < 0)
		return -1;
	return admin_organizations_read(req, res, err);
}

int admin_organizations_delete(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 ||
		organization_delete(req->store, scope.organization.text, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- module consumers ---- */

int admin_module_consumers_index(struct request *req, struct response *res, struct err *err)
{
	struct site_organizations list = {.search = NULL};
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	list.module_consumers_of = scope.organization.text;
	return list_respond(req, res, &list, err);
}

int admin_module_consumers_replace(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *names = NULL;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || body_linkage(req, "organizations", &names, err) < 0 ||
		module_consumers_replace(req->store, scope.organization.text, names, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
