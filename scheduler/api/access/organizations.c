/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/api/access/emails.h"
#include "scheduler/api/access/permissions.h"
#include "scheduler/api/access/tokens.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/runs/changes/risk_hints.h"
#include "scheduler/api/workspaces/default_mode.h"
#include "scheduler/api/workspaces/retention.h"
#include "scheduler/auth/factors/factors.h"
#include "scheduler/auth/lifetimes/token_limits.h"
#include "scheduler/http/fields.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/organizations.sql.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/site_settings.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/store/workspaces/workspaces.h"

/* Settings that clients can set and read. */
static const struct field settings[] = {
	{"aggregated-commit-status-enabled", FIELD_BOOL, "true"},
	{"allow-force-delete-workspaces", FIELD_BOOL, "false"},
	{"assessment-hours", FIELD_INT, "null"}, /* null: the site's */
	{"assessments-enforced", FIELD_BOOL, "false"},
	{"collaborator-auth-policy", FIELD_TEXT, "\"password\""},
	{"cost-estimation-enabled", FIELD_BOOL, "false"},
	{"default-execution-mode", FIELD_TEXT, "\"remote\""},
	{"enforce-hyok", FIELD_BOOL, "false"},
	{"max-ttl-enabled", FIELD_BOOL, "false"},
	{"owners-team-saml-role-id", FIELD_TEXT, "null"},
	{"risk-hint-types", FIELD_TEXTS, "[]"},
	{"send-passing-statuses-for-untriggered-speculative-plans", FIELD_BOOL, "false"},
	{"session-remember", FIELD_INT, "null"},
	{"session-timeout", FIELD_INT, "null"},
	{"speculative-plan-management-enabled", FIELD_BOOL, "true"},
	{"unused-token-days", FIELD_INT, "0"},
	{"user-tokens-enabled", FIELD_BOOL, "true"},
	{"vcs-apply-status-enabled", FIELD_BOOL, "false"},
};

/* No other value has an effect. */
static const struct field_refusal refused[] = {
	{"enforce-hyok", "false", "Keys of one's own (HYOK) are not available"},
};

static const struct permission_shown permissions[] = {
	{"can-create-module", CAN_MANAGE_MODULES},
	{"can-create-team", CAN_MANAGE_TEAMS},
	{"can-create-workspace", CAN_CREATE_WORKSPACE},
	{"can-create-workspace-migration", CAN_CREATE_WORKSPACE},
	{"can-create-project", CAN_CREATE_PROJECT},
	{"can-create-provider", CAN_MANAGE_PROVIDERS},
	{"can-create-change-requests", CAN_MANAGE_ALL_WORKSPACES},
	{"can-deploy-no-code-modules", CAN_CREATE_WORKSPACE},
	{"can-destroy", CAN_MANAGE_ORGANIZATION},
	{"can-manage-no-code-modules", CAN_MANAGE_NO_CODE},
	{"can-manage-agent-pools", CAN_MANAGE_POOLS},
	{"can-manage-memberships", CAN_MANAGE_MEMBERSHIP},
	{"can-manage-run-tasks", CAN_MANAGE_TASKS},
	{"can-manage-varsets", CAN_MANAGE_ALL_WORKSPACES},
	{"can-read-audit-trail", CAN_READ_AUDIT},
	{"can-update", CAN_MANAGE_ORGANIZATION},
	{"can-update-api-token", CAN_MANAGE_ORGANIZATION},
	{"can-update-oauth", CAN_MANAGE_VCS},
	{"can-update-ssh-keys", CAN_MANAGE_VCS},
	{"can-update-sentinel", CAN_MANAGE_POLICIES},
};

/* The features; the site can switch off cost estimates. `operations` must be true: without it clients run everything on
 * their own machine. */
static const struct {
	const char *name;
	bool there;
} entitlements[] = {{"agents", true}, {"audit-logging", true}, {"cost-estimation", true}, {"global-run-tasks", true},
	{"operations", true}, {"policy-enforcement", true}, {"private-module-registry", true},
	{"private-run-tasks", true}, {"run-tasks", true}, {"sentinel", true}, {"sso", true}, {"state-storage", true},
	{"teams", true}, {"vcs-integrations", true}, {"waypoint-actions", false},
	{"waypoint-templates-and-addons", false}};

/* The path of the page that connects an installation of the site's GitHub App, or null. */
static json_t *connect_path(const struct store *store, const char *organization)
{
	_cleanup_(freep) char *path = mem_printf("/github-app/connect/%s", organization);

	return json_string_or_null(github_app_is_connectable(store->settings->github_app) ? path : NULL);
}

/* Relations to what has an address of its own. */
static json_t *places_shown(const char *name)
{
	json_t *token = relation_linked(json_object(), "organizations", name, "authentication-token");
	json_t *audit =
		relation_linked(json_object(), "organizations", name, "authentication-token?token=audit-trails");
	json_t *entitlements_of = to_one("entitlement-sets", name);

	return json_pack("{so so so so}", "authentication-token", token, "audit-trails-authentication-token", audit,
		"oauth-tokens", relation_linked(json_object(), "organizations", name, "oauth-tokens"),
		"entitlement-set", relation_linked(entitlements_of, "organizations", name, "entitlement-set"));
}

static int organization_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct organization_row *row = of_row;
	json_auto_t *set = json_shown(row->settings);
	json_t *may_do = rights_shown(permissions, ARRAY_LEN(permissions), row->rights);
	json_t *attributes = json_pack("{s:s, s:o, s:o, s:o, s:b, s:b, s:b, s:b, s:i, s:n, s:b, s:b}", "name",
		row->name, "email", json_string_or_null(row->email), "created-at", time_shown(row->created_at),
		"external-id", json_string_or_null(row->id), "is-unified", 0, "saml-enabled", 0, "stacks-enabled", 0,
		"two-factor-conformant", !response_scope_lacks_factor(store->scope, row->id),
		"remaining-testable-count", 1000, "trial-expires-at", "fair-run-queuing-enabled", 1,
		"is-in-degraded-mode", 0);

	(void)err;
	fields_show(settings, ARRAY_LEN(settings), set, attributes);
	if (!json_object_get(set, SITE_PASSES_OTHERS))
		json_object_set_new(attributes, SITE_PASSES_OTHERS, json_boolean(site_flag(SITE_PASSES_OTHERS)));
	json_object_set_new(attributes, "github-app-connect-path", connect_path(store, row->name));
	json_object_set_new(may_do, "can-traverse", json_true()); /* readers are members */
	json_object_set_new(attributes, "permissions", may_do);
	*ret_resource = resource_new("organizations", row->name, attributes,
		json_pack("{so so so}", "default-agent-pool", to_one("agent-pools", row->default_pool_id),
			"default-project", to_one("projects", row->default_project_id), "data-retention-policy",
			retention_to_one(row->retention_id, row->retains_all)));
	json_object_update_new(json_object_get(*ret_resource, "relationships"), places_shown(row->name));
	return 0;
}

static int entitlements_resource(struct store *store, const char *name, json_t **ret_resource, struct err *err)
{
	json_auto_t *site = NULL;
	json_t *attributes;

	if (site_settings_read(store, &site, err) < 0)
		return -1;
	attributes = json_object();
	for (size_t i = 0; i < ARRAY_LEN(entitlements); i++)
		json_object_set_new(attributes, entitlements[i].name, json_boolean(entitlements[i].there));
	json_object_set_new(
		attributes, "cost-estimation", json_boolean(json_bool_at(site, "cost-estimation.enabled", true)));
	*ret_resource = resource_new("entitlement-sets", name, attributes, NULL);
	return 0;
}

/* ---- reading ---- */

static const struct inclusion includes[] = {
	{"default-project", "organizations", "default-project", &kind_projects},
	{"entitlement-set", "organizations", "entitlement-set", NULL},
};

static int organizations_include(
	const struct request *req, json_t *organizations, json_t **ret_included, struct err *err)
{
	json_t *organization, *entitlements_of;
	size_t i;

	if (includes_follow(req, &kind_organizations, organizations, ret_included, err) < 0)
		return -1;
	if (!query_includes(req, "entitlement-set"))
		return 0;
	json_array_foreach(organizations, i, organization)
	{
		if (entitlements_resource(req->store, json_string_at(organization, "id"), &entitlements_of, err) < 0) {
			json_decref(*ret_included);
			return -1;
		}
		json_array_append_new(*ret_included, entitlements_of);
	}
	return 0;
}

const struct resource_kind kind_organizations = {.type = "organizations",
	.ask = organizations_read_all,
	.make = organization_resource,
	KIND_INCLUDES(includes),
	.include = organizations_include};

static int organization_show(struct request *req, struct response *res, int status, const char *name, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (organization_read(req->store, name, &rows, err) < 0)
		return -1;
	return respond_row(req, res, status, &(struct resource_rows){&kind_organizations, &rows}, err);
}

int organizations_read(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (includes_check(req, &kind_organizations, err) < 0 || scope_organization(req, &scope, err) < 0)
		return -1;
	return organization_show(req, res, 200, scope.organization_name, err);
}

static int page_of_organizations(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct organization_list list = {.user_id = req->actor.is_site_admin ? NULL : req->actor.user.text,
		.search = query(req, "q"),
		.name = query(req, "q[name]"),
		.email = query(req, "q[email]"),
		.limit = page->size,
		.offset = page->offset};

	(void)scope;
	return organizations_list(req->store, &list, ret_rows, err);
}

int organizations_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_organizations, NULL, page_of_organizations}, err);
}

/* ---- changing ---- */

struct organization_input {
	const char *name, *email;
	json_t *settings;
	struct default_mode mode; /* the current mode, then the new one */
};

static int mode_read(
	const struct request *req, const char *organization_id, struct organization_input *input, struct err *err)
{
	const struct pool_use use = {.organization_id = organization_id, .anywhere = true};
	struct default_mode_body body = {
		.mode = input->mode.mode,
		.pool = body_relation(req, "default-agent-pool"),
		.pool_pointer = "/data/relationships/default-agent-pool",
	};

	if (json_object_get(input->settings, "default-execution-mode"))
		body.mode = text_or_empty(json_string_at(input->settings, "default-execution-mode"));
	return default_mode_change(req, &use, &body, &input->mode, err);
}

static int minutes_check(const json_t *set, const char *name, const char *what, struct err *err)
{
	enum { MAX_MINUTES = 525600 };
	long long minutes = json_int_at(set, name, 1);
	char pointer[64];

	if (minutes >= 1 && minutes <= MAX_MINUTES)
		return 0;
	snprintf(pointer, sizeof(pointer), "/data/attributes/%s", name);
	return err_at(err, pointer, "%s must be 1 to %d minutes", what, MAX_MINUTES);
}

static int policy_check(const json_t *set, struct err *err)
{
	const char *policy = json_string_at(set, "collaborator-auth-policy");

	if (!policy || text_equal(policy, "password") || text_equal(policy, "two_factor_mandatory"))
		return 0;
	return err_at(err, "/data/attributes/collaborator-auth-policy",
		"Collaborator auth policy must be password or two_factor_mandatory");
}

static int assessment_hours_check(const json_t *set, struct err *err)
{
	enum { MAX_HOURS = 168 };
	long long hours = json_int_at(set, "assessment-hours", 1);

	if (hours >= 1 && hours <= MAX_HOURS)
		return 0;
	return err_at(err, "/data/attributes/assessment-hours", "Assessment hours must be 1 to %d", MAX_HOURS);
}

static int settings_check(const json_t *set, struct err *err)
{
	if (fields_refuse(refused, ARRAY_LEN(refused), set, err) < 0 || policy_check(set, err) < 0 ||
		assessment_hours_check(set, err) < 0 ||
		risk_types_check(json_object_get(set, "risk-hint-types"), err) < 0 ||
		minutes_check(set, "session-timeout", "Session timeout", err) < 0 || unused_days_check(set, err) < 0)
		return -1;
	return minutes_check(set, "session-remember", "Session remember", err);
}

/* Reads and checks the body. `settings` is a new reference, also after an error. An id of NULL means a create. */
static int input_read(
	const struct request *req, const char *organization_id, struct organization_input *input, struct err *err)
{
	bool creating = !organization_id;

	input->settings = json_object();
	if (body_check(req, "organizations", err) < 0 || body_text(req, "name", &input->name, err) < 0 ||
		body_text(req, "email", &input->email, err) < 0 ||
		fields_read(req, settings, ARRAY_LEN(settings), input->settings, err) < 0 ||
		settings_check(input->settings, err) < 0 || mode_read(req, organization_id, input, err) < 0)
		return -1;
	if ((creating || input->name) && name_check("Name", "/data/attributes/name", input->name, err) < 0)
		return -1;
	return creating || input->email ? email_check(input->email, err) : 0;
}

/* With one status for all workspaces, untriggered ones pass anyway. `old` is NULL for a new organization. */
static int statuses_check(const json_t *old, const json_t *sent, struct err *err)
{
	static const char passing[] = "send-passing-statuses-for-untriggered-speculative-plans",
			  aggregated[] = "aggregated-commit-status-enabled";

	if (!json_bool_at(sent, passing, json_bool_at(old, passing, false)) ||
		!json_bool_at(sent, aggregated, json_bool_at(old, aggregated, true)))
		return 0;
	return err_at(err, "/data/attributes/send-passing-statuses-for-untriggered-speculative-plans",
		"Passing statuses for untriggered speculative plans need aggregated-commit-status-enabled: false");
}

/* The limits on the lifetime of tokens act from now on. */
static int limits_ensure(struct request *req, const char *organization_id, const json_t *sent, struct err *err)
{
	if (!json_bool_at(sent, "max-ttl-enabled", false))
		return 0;
	return token_ttls_ensure(req->store, organization_id, err);
}

/* An organization that needs second factors has owners who have them. */
static int owners_check(
	struct store *store, const char *organization_id, const struct organization_input *input, struct err *err)
{
	if (!text_equal(json_string_at(input->settings, "collaborator-auth-policy"), "two_factor_mandatory"))
		return 0;
	return owners_factor_check(store, organization_id, "/data/attributes/collaborator-auth-policy", err);
}

static int create_from(struct request *req, const struct organization_input *input, struct err *err)
{
	struct organization_order order = {
		.name = input->name,
		.email = input->email,
		.settings = input->settings,
		.pool_id = input->mode.pool,
		.owner = req->actor.user.text,
	};
	struct id id;

	if (organization_create(req->store, &order, &id, err) < 0)
		return -1;
	if (owners_check(req->store, id.text, input, err) < 0)
		return -1;
	return limits_ensure(req, id.text, input->settings, err);
}

static int ceiling_check(const struct request *req, const json_t *site, struct err *err)
{
	long long ceiling = json_int_at(site, "default-organizations-per-user-ceiling", 0), owned = 0;

	if (!json_bool_at(site, "limit-organizations-per-user", false) || ceiling <= 0)
		return 0;
	if (organizations_count_owned(req->store, req->actor.user.text, &owned, err) < 0)
		return -1;
	if (owned < ceiling)
		return 0;
	return err_set(err, ERR_FORBIDDEN, "a person owns at most %lld organizations on this installation", ceiling);
}

static int creation_check(const struct request *req, struct err *err)
{
	json_auto_t *site = NULL;

	if (req->actor.is_site_admin)
		return 0;
	if (site_settings_read(req->store, &site, err) < 0)
		return -1;
	if (json_bool_at(site, "limit-user-organization-creation", false))
		return err_set(err, ERR_FORBIDDEN, "only site admins create organizations on this installation");
	return ceiling_check(req, site, err);
}

int organizations_create(struct request *req, struct response *res, struct err *err)
{
	struct organization_input input = {.mode = {"remote", NULL}};
	int result = creation_check(req, err) < 0 ? -1 : input_read(req, NULL, &input, err);

	if (result == 0)
		result = name_check_reserved("Name", "/data/attributes/name", input.name, err);
	if (result == 0)
		result = statuses_check(NULL, input.settings, err);
	if (result == 0)
		result = create_from(req, &input, err);
	json_decref(input.settings);
	return result == 0 ? organization_show(req, res, 201, input.name, err) : -1;
}

static int update_from(
	struct request *req, const struct scope *scope, const struct organization_input *input, struct err *err)
{
	const struct organization_update update = {.id = scope->organization.text,
		.name = input->name,
		.email = input->email,
		.settings = input->settings,
		.pool_set = json_object_get(input->settings, "default-execution-mode") ||
			body_relation(req, "default-agent-pool"),
		.pool_id = input->mode.pool};

	if (organization_update(req->store, &update, err) < 0 || owners_check(req->store, update.id, input, err) < 0 ||
		limits_ensure(req, update.id, input->settings, err) < 0)
		return -1;
	return update.pool_set ? workspaces_inherit_mode(req->store, update.id, err) : 0;
}

int organizations_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct organization_input input = {.name = NULL};
	const struct organization_row *row;
	json_auto_t *old = NULL;
	struct scope scope;
	int result;

	if (scope_organization(req, &scope, err) < 0 ||
		organization_read(req->store, scope.organization_name, &rows, err) < 0)
		return -1;
	row = row_of(organization, &rows, 0);
	old = json_shown(row->settings);
	input.mode = (struct default_mode){json_string_at(old, "default-execution-mode"), row->default_pool_id};
	result = input_read(req, scope.organization.text, &input, err);
	if (result == 0 && input.name && !text_equal(input.name, scope.organization_name))
		result = name_check_reserved("Name", "/data/attributes/name", input.name, err);
	if (result == 0)
		result = statuses_check(old, input.settings, err);
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

/* ---- entitlements and capacity ---- */

int organizations_entitlements(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;
	json_t *resource;

	if (scope_organization(req, &scope, err) < 0 ||
		entitlements_resource(req->store, scope.organization_name, &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}

int organizations_capacity(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;
	json_t *attributes;
	const struct organization_capacity_row *capacity;

	if (scope_organization(req, &scope, err) < 0 ||
		organization_capacity(req->store, scope.organization.text, &rows, err) < 0)
		return -1;
	capacity = row_of(organization_capacity, &rows, 0);
	attributes = json_pack(
		"{s:I, s:I}", "pending", (json_int_t)capacity->pending, "running", (json_int_t)capacity->running);
	return respond_resource(
		res, 200, resource_new("organization-capacity", scope.organization_name, attributes, NULL));
}
