/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workspaces/retention.h"

#include "scheduler/api/api.h"

#include "scheduler/http/scope.h"
#include "scheduler/store/content/retention.h"
#include "scheduler/store/content/retention.sql.h"

enum { MAX_DAYS = 36500 };

/* The two kinds of policies, and the type that older clients send for the first. */
static const char deletes[] = "data-retention-policy-delete-olders";
static const char keeps[] = "data-retention-policy-dont-deletes";
static const char deletes_of_old[] = "data-retention-policies";

json_t *retention_to_one(const char *retention_id, bool retains_all)
{
	return to_one(retains_all ? keeps : deletes, retention_id);
}

/* The organization or the workspace of the path; the scope holds its ids. */
static int owner_in_path(
	const struct request *req, struct scope *scope, struct retention_owner *ret_owner, struct err *err)
{
	if (*param(req, "workspace")) {
		if (scope_workspace(req, scope, err) < 0)
			return -1;
		*ret_owner = (struct retention_owner){.workspace_id = scope->workspace.text};
		return 0;
	}
	if (scope_organization(req, scope, err) < 0)
		return -1;
	*ret_owner = (struct retention_owner){.organization_id = scope->organization.text};
	return 0;
}

static json_t *target_shown(const struct scope *scope, struct retention_owner owner)
{
	return owner.workspace_id ? to_one("workspaces", owner.workspace_id)
				  : to_one("organizations", scope->organization_name);
}

static int policy_show(struct request *req, struct response *res, const struct scope *scope,
	struct retention_owner owner, bool old, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *attributes = NULL;
	const char *type = keeps;
	const struct retention_read_row *policy;

	if (retention_read(req->store, owner, &rows, err) < 0)
		return -1;
	policy = row_of(retention_read, &rows, 0);
	if (!policy->days_null) {
		type = old ? deletes_of_old : deletes;
		attributes = json_pack("{sI}", "delete-older-than-n-days", (json_int_t)policy->days);
	}
	return respond_resource(res, 200,
		resource_new(type, policy->id, attributes ? attributes : json_object(),
			json_pack("{so}", "target", target_shown(scope, owner))));
}

int retention_policies_read(struct request *req, struct response *res, struct err *err)
{
	struct retention_owner owner;
	struct scope scope;

	if (owner_in_path(req, &scope, &owner, err) < 0)
		return -1;
	return policy_show(req, res, &scope, owner, false, err);
}

/* The days after which data are deleted. 0 for the kind that keeps all data. */
static int days_read(const struct request *req, const char *type, long long *ret_days, struct err *err)
{
	static const char pointer[] = "/data/attributes/delete-older-than-n-days";
	long long days = 0;

	*ret_days = 0;
	if (text_equal(type, keeps))
		return 0;
	if (!text_equal(type, deletes) && !text_equal(type, deletes_of_old))
		return err_at(err, "/data/type", "Type must be %s or %s", deletes, keeps);
	if (body_int(req, "delete-older-than-n-days", &days, err) < 0)
		return -1;
	if (days < 1 || days > MAX_DAYS)
		return err_at(err, pointer, "Delete older than n days must be 1 to %d", MAX_DAYS);
	*ret_days = days;
	return 0;
}

int retention_policies_write(struct request *req, struct response *res, struct err *err)
{
	const char *type = json_string_at(req->body, "data.type");
	struct retention_owner owner;
	struct scope scope;
	long long days;

	if (owner_in_path(req, &scope, &owner, err) < 0 || body_check(req, text_or_empty(type), err) < 0 ||
		days_read(req, type, &days, err) < 0 || retention_write(req->store, owner, days, err) < 0)
		return -1;
	return policy_show(req, res, &scope, owner, text_equal(type, deletes_of_old), err);
}

int retention_policies_delete(struct request *req, struct response *res, struct err *err)
{
	struct retention_owner owner;
	struct scope scope;

	if (owner_in_path(req, &scope, &owner, err) < 0 || retention_delete(req->store, owner, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
