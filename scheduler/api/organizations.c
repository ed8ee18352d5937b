/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/organizations.h"

#include "scheduler/api/emails.h"
#include "scheduler/api/fields.h"
#include "scheduler/api/projects.h"
#include "scheduler/api/scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/organizations.h"
#include "scheduler/store/workspaces.h"

/* What clients set and read back (API 5.2). */
static const struct field settings[] = {
	{"aggregated-commit-status-enabled", FIELD_BOOL, "true"},
	{"allow-force-delete-workspaces", FIELD_BOOL, "false"},
	{"assessments-enforced", FIELD_BOOL, "false"},
	{"collaborator-auth-policy", FIELD_TEXT, "\"password\""},
	{"cost-estimation-enabled", FIELD_BOOL, "false"},
	{"default-execution-mode", FIELD_TEXT, "\"remote\""},
	{"enforce-hyok", FIELD_BOOL, "false"},
	{"max-ttl-enabled", FIELD_BOOL, "false"},
	{"owners-team-saml-role-id", FIELD_TEXT, "null"},
	{"send-passing-statuses-for-untriggered-speculative-plans", FIELD_BOOL, "false"},
	{"session-remember", FIELD_INT, "null"},
	{"session-timeout", FIELD_INT, "null"},
	{"speculative-plan-management-enabled", FIELD_BOOL, "true"},
	{"stacks-enabled", FIELD_BOOL, "false"},
	{"user-tokens-enabled", FIELD_BOOL, "true"},
};

static const char *const permissions[] = {"can-create-team", "can-create-workspace", "can-create-workspace-migration",
	"can-create-project", "can-deploy-no-code-modules", "can-destroy", "can-manage-no-code-modules",
	"can-manage-run-tasks", "can-traverse", "can-update", "can-update-api-token", "can-update-oauth",
	"can-update-sentinel"};

/* The rights that are there; what is not built is not promised. `operations` must be true: without it clients run
 * everything on their own machine. */
static const struct {
	const char *name;
	bool there;
} entitlements[] = {{"agents", true}, {"audit-logging", false}, {"cost-estimation", true}, {"global-run-tasks", true},
	{"operations", true}, {"policy-enforcement", true}, {"private-module-registry", false},
	{"private-run-tasks", false}, {"run-tasks", true}, {"sentinel", true}, {"sso", false}, {"state-storage", true},
	{"teams", false}, {"vcs-integrations", false}, {"waypoint-actions", false},
	{"waypoint-templates-and-addons", false}};

json_t *organization_resource(const struct rows *rows, int row)
{
	const char *name = row_text(rows, row, "name");
	json_auto_t *set = row_json(rows, row, "settings");
	json_t *may_do = json_object();
	json_t *attributes = json_pack("{s:s, s:o, s:o, s:o, s:b, s:b, s:b, s:i, s:n}", "name", name, "email",
		row_string(rows, row, "email"), "created-at", row_time(rows, row, "created_at"), "external-id",
		row_string(rows, row, "id"), "is-unified", 0, "saml-enabled", 0, "two-factor-conformant", 0,
		"remaining-testable-count", 1000, "trial-expires-at");

	fields_show(settings, ARRAY_LEN(settings), set, attributes);
	for (size_t i = 0; i < ARRAY_LEN(permissions); i++)
		json_object_set_new(may_do, permissions[i], json_true());
	json_object_set_new(attributes, "permissions", may_do);
	return resource_new("organizations", name, attributes,
		json_pack("{s:o, s:o}", "default-agent-pool", to_one("agent-pools", NULL), "default-project",
			to_one("projects", row_text(rows, row, "default_project_id"))));
}

/* ---- reading ---- */

static int organization_show(struct request *req, struct response *res, int status, const char *name, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *project = NULL;

	if (organization_read(req->store, name, &rows, err) < 0)
		return -1;
	if (!query_includes(req, "default-project"))
		return respond_resource(res, status, organization_resource(&rows, 0));
	if (project_included(req->store, row_text(&rows, 0, "default_project_id"), &project, err) < 0)
		return -1;
	return respond_including(res, status, organization_resource(&rows, 0), json_pack("[o]", project));
}

static const char *const includes[] = {"default-project", NULL};

int organizations_read(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (query_includes_check(req, includes, err) < 0 || scope_organization(req, &scope, err) < 0)
		return -1;
	return organization_show(req, res, 200, scope.organization_name, err);
}

int organizations_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct organization_list list = {.search = query(req, "q")};
	struct page page;
	json_t *data;

	if (page_read(req, &page, err) < 0)
		return -1;
	list.user_id = req->actor.is_site_admin ? NULL : req->actor.user.text;
	list.limit = page.size;
	list.offset = page.offset;
	if (organizations_list(req->store, &list, &rows, err) < 0)
		return -1;
	page.total = row_int(&rows, 0, "total");
	data = json_array();
	for (int i = 0; i < rows.count && !row_null(&rows, i, "id"); i++)
		json_array_append_new(data, organization_resource(&rows, i));
	return respond_page(req, res, &page, data, NULL);
}

/* ---- changing ---- */

static const char *const modes[] = {"remote", "local", "agent", NULL};

static int mode_check(const json_t *wanted, struct err *err)
{
	const char *mode = json_string_at(wanted, "default-execution-mode");

	if (!json_object_get(wanted, "default-execution-mode"))
		return 0;
	for (size_t i = 0; modes[i]; i++)
		if (text_equal(modes[i], mode))
			return 0;
	return err_at(err, "/data/attributes/default-execution-mode",
		"Default execution mode must be remote, local or agent");
}

struct organization_input {
	const char *name, *email;
	json_t *settings;
};

/* Reads and checks what was sent; `settings` is a new reference, also after an error. */
static int input_read(const struct request *req, bool creating, struct organization_input *input, struct err *err)
{
	input->settings = json_object();
	if (body_check(req, "organizations", err) < 0 || body_text(req, "name", &input->name, err) < 0 ||
		body_text(req, "email", &input->email, err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), input->settings, err) < 0 ||
		mode_check(input->settings, err) < 0)
		return -1;
	if (body_relation(req, "default-agent-pool"))
		return err_at(err, "/data/relationships/default-agent-pool",
			"Default agent pool must not be specified unless using 'agent' execution mode");
	if ((creating || input->name) && name_check("Name", "/data/attributes/name", input->name, err) < 0)
		return -1;
	return creating || input->email ? email_check(input->email, err) : 0;
}

static int create_from(struct request *req, const struct organization_input *input, struct err *err)
{
	struct organization_order order = {
		.name = input->name,
		.email = input->email,
		.settings = input->settings,
		.owner = req->actor.user.text,
	};
	struct id id;

	return organization_create(req->store, &order, &id, err);
}

int organizations_create(struct request *req, struct response *res, struct err *err)
{
	struct organization_input input = {.name = NULL};
	int result = input_read(req, true, &input, err);

	if (result == 0)
		result = create_from(req, &input, err);
	json_decref(input.settings);
	return result == 0 ? organization_show(req, res, 201, input.name, err) : -1;
}

static int update_from(
	struct request *req, const struct scope *scope, const struct organization_input *input, struct err *err)
{
	struct organization_update update = {
		.id = scope->organization.text,
		.name = input->name,
		.email = input->email,
		.settings = input->settings,
	};
	bool mode = json_object_get(input->settings, "default-execution-mode");

	if (organization_update(req->store, &update, err) < 0)
		return -1;
	return mode ? workspaces_inherit_mode(req->store, update.id, err) : 0;
}

int organizations_update(struct request *req, struct response *res, struct err *err)
{
	struct organization_input input = {.name = NULL};
	struct scope scope;
	int result;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	result = input_read(req, false, &input, err);
	if (result == 0)
		result = update_from(req, &scope, &input, err);
	json_decref(input.settings);
	if (result < 0)
		return -1;
	return organization_show(req, res, 200, input.name ? input.name : scope.organization_name, err);
}

int organizations_delete(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 ||
		organization_delete(req->store, scope.organization.text, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- beside the organization ---- */

int organizations_entitlements(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;
	json_t *attributes;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	attributes = json_object();
	for (size_t i = 0; i < ARRAY_LEN(entitlements); i++)
		json_object_set_new(attributes, entitlements[i].name, json_boolean(entitlements[i].there));
	return respond_resource(res, 200, resource_new("entitlement-sets", scope.organization_name, attributes, NULL));
}

int organizations_capacity(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;
	json_t *attributes;

	if (scope_organization(req, &scope, err) < 0 ||
		organization_capacity(req->store, scope.organization.text, &rows, err) < 0)
		return -1;
	attributes = json_pack("{s:I, s:I}", "pending", (json_int_t)row_int(&rows, 0, "pending"), "running",
		(json_int_t)row_int(&rows, 0, "running"));
	return respond_resource(
		res, 200, resource_new("organization-capacity", scope.organization_name, attributes, NULL));
}
