/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/access/audit.sql.h"
#include "scheduler/store/access/organizations.h"
#include "scheduler/store/access/organizations.sql.h"

/* The audit configuration of an organization: its trail is always on, and HashiCorp's cloud gets nothing. */

static int configuration_show(struct request *req, struct response *res, const struct scope *scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT, last = ROWS_INIT;
	const struct audit_list list = {.organization = scope->organization.text, .limit = 1};
	json_t *attributes, *timestamps;
	const char *created_at;

	if (organization_read(req->store, scope->organization_name, &rows, err) < 0 ||
		audit_read(req->store, &list, &last, err) < 0)
		return -1;
	created_at = row_of(organization, &rows, 0)->created_at;
	timestamps = json_pack("{so sn so sn sn sn sn sn}", "audit-trails-enabled-at", time_shown(created_at),
		"audit-trails-disabled-at", "audit-trails-last-success", time_shown(row_of(audit_event, &last, 0)->at),
		"audit-trails-last-failure", "hcp-audit-log-streaming-enabled-at",
		"hcp-audit-log-streaming-disabled-at", "hcp-audit-log-streaming-last-success",
		"hcp-audit-log-streaming-last-failure");
	attributes = json_pack("{s{sb} s{sb sb sn} s{sb sb sb} so so}", "audit-trails", "enabled", 1,
		"hcp-audit-log-streaming", "enabled", 0, "use-default-organization", 0, "organization-id",
		"permissions", "can-enable-hcp-audit-log-streaming", 0,
		"can-set-hcp-audit-log-streaming-organization-id", 0,
		"can-use-default-audit-log-streaming-organization", 0, "timestamps", timestamps, "updated-at",
		time_shown(created_at));
	return respond_resource(res, 200,
		resource_new("audit-configurations", scope->organization.text, attributes,
			json_pack("{so}", "organization", to_one("organizations", scope->organization_name))));
}

int audit_configuration_read(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	return scope_organization(req, &scope, err) < 0 ? -1 : configuration_show(req, res, &scope, err);
}

/* ERR_INVALID unless the member `enabled` of the attribute is left out, null or the only value. */
static int enabled_check(const struct request *req, const char *name, bool only, const char *why, struct err *err)
{
	const json_t *attribute = json_object_get(json_at(req->body, "data.attributes"), name);
	const json_t *enabled = json_object_get(attribute, "enabled");
	_cleanup_(freep) char *pointer = mem_printf("/data/attributes/%s/enabled", name);

	if (!enabled || json_is_null(enabled) || (json_is_boolean(enabled) && json_is_true(enabled) == only))
		return 0;
	return err_at(err, pointer, "%s", why);
}

int audit_configuration_update(struct request *req, struct response *res, struct err *err)
{
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0 || body_check(req, "audit-configurations", err) < 0 ||
		enabled_check(req, "audit-trails", true, "The audit trail can't be switched off", err) < 0 ||
		enabled_check(req, "hcp-audit-log-streaming", false,
			"Streams to HCP are not available: the site sends all events to its own collectors "
			"(--audit-syslog, --audit-topic)",
			err) < 0)
		return -1;
	return configuration_show(req, res, &scope, err);
}

/* The request's own event is the test event. */
int audit_configuration_test(struct request *req, struct response *res, struct err *err)
{
	json_auto_t *document = NULL;
	struct scope scope;

	if (scope_organization(req, &scope, err) < 0)
		return -1;
	if (!req->audit->request[0])
		audit_uuid(req->audit->request);
	document = json_pack("{ss ss}", "type", "audit-configurations", "id", scope.organization.text);
	audit_note_document(req->audit, document);
	return respond_json(res, 201, json_pack("{ss}", "request-id", req->audit->request));
}
