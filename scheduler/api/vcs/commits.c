/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "common/vcs/ref.h"
#include "scheduler/store/vcs/events.h"
#include "scheduler/store/vcs/events/approvals.h"
#include "scheduler/store/vcs/events/approvals.sql.h"
#include "scheduler/store/vcs/events/commits.h"
#include "scheduler/store/vcs/events/commits.sql.h"
#include "scheduler/store/vcs/events/refs.h"
#include "scheduler/store/workspaces/configurations.h"
#include "scheduler/store/workspaces/configurations.sql.h"

/* Commits: what a configuration version came from, and what users ask of a repository. */

/* ---- ingress attributes ---- */

static const struct cell_shown attributes[] = {
	CELL("branch", vcs_ingress, branch),
	CELL("commit-sha", vcs_ingress, sha),
	CELL("is-pull-request", vcs_ingress, is_pull_request),
};
static const struct relation relations[] = {
	ONE_CELL("created-by", "users", vcs_ingress, created_by),
	ONE_CELL("vcs-event", "vcs-events", vcs_ingress, event_id),
};

/* Attributes of the row's detail. */
static const char *const details[] = {"clone-url", "commit-message", "commit-url", "compare-url", "pull-request-url",
	"pull-request-title", "pull-request-body", "sender-username", "sender-avatar-url", "sender-html-url"};

static json_t *ingress_resource(const void *row)
{
	const struct vcs_ingress_row *ingress = row;
	json_auto_t *detail = json_shown(ingress->detail);
	json_t *shown = cells_shown(attributes, ARRAY_LEN(attributes), row), *resource;
	_cleanup_(freep) char *self =
		mem_printf("/api/v2/configuration-versions/%s/ingress-attributes", ingress->configuration_version_id);

	for (size_t i = 0; i < ARRAY_LEN(details); i++)
		json_object_set_new(shown, details[i], json_string_or_null(json_string_at(detail, details[i])));
	json_object_set_new(shown, "identifier",
		json_string_or_null(ingress->repository ? ingress->repository : json_string_at(detail, "identifier")));
	json_object_set_new(shown, "on-default-branch", json_boolean(json_bool_at(detail, "on-default-branch", false)));
	json_object_set_new(shown, "tag", json_string_or_null(text_or_null(ingress->tag)));
	json_object_set_new(shown, "pull-request-number",
		ingress->pull_request_null ? json_null() : json_integer(ingress->pull_request));
	resource = resource_new(
		"ingress-attributes", ingress->id, shown, relations_shown(relations, ARRAY_LEN(relations), row));
	json_object_set_new(resource, "links", json_pack("{s:s}", "self", self));
	return resource;
}

const struct resource_kind kind_ingress_attributes = {
	.type = "ingress-attributes", .ask = vcs_ingress_read_all, .show = ingress_resource};

static int ingress_not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "ingress attributes not found");
}

int ingress_attributes_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows configuration = ROWS_INIT, rows = ROWS_INIT;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct scope scope;

	if (configuration_read(req->store, param(req, "configuration"), &configuration, err) < 0 ||
		scope_workspace_id(req, row_of(configuration, &configuration, 0)->workspace_id, &scope, err) < 0)
		return err->kind == ERR_NOT_FOUND ? ingress_not_found(err) : -1;
	if (!row_of(configuration, &configuration, 0)->ingress_id)
		return ingress_not_found(err);
	db_array_add(&ids, row_of(configuration, &configuration, 0)->ingress_id);
	if (kind_read(req->store, &kind_ingress_attributes, &ids, &rows, err) < 0)
		return -1;
	return rows.count ? respond_resource(res, 200, ingress_resource(row_of(vcs_ingress, &rows, 0)))
			  : ingress_not_found(err);
}

/* ---- what users ask of a repository ---- */

int vcs_check(struct request *req, struct response *res, struct err *err)
{
	struct id repository;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		vcs_repository_of_workspace(req->store, scope.workspace.text, &repository, err) < 0 ||
		vcs_look_now(req->store, repository.text, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

/* The commit is a member of the body, or an attribute. */
static int commit_of(const struct request *req, const char **ret_sha, struct err *err)
{
	const json_t *member = json_object_get(req->body, "commit-sha");
	const char *sha;

	if (!member)
		member = json_at(req->body, "data.attributes.commit-sha");
	sha = json_string_value(member);
	*ret_sha = sha;
	if (!member || json_is_null(member) || (sha && vcs_sha_valid(sha) && !vcs_sha_is_zero(sha)))
		return 0;
	return err_at(err, "/data/attributes/commit-sha", "Commit sha must have 40 or 64 digits, 0-9 and a-f");
}

int vcs_run(struct request *req, struct response *res, struct err *err)
{
	struct vcs_request request = {.actor = req->actor.user.text, .again = true};
	struct id repository, event;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 || commit_of(req, &request.sha, err) < 0 ||
		vcs_repository_of_workspace(req->store, scope.workspace.text, &repository, err) < 0)
		return -1;
	request.repository_id = repository.text;
	request.subject_id = scope.workspace.text;
	if (vcs_event_request(req->store, &request, &event, err) < 0)
		return -1;
	return respond_json(res, 202, json_pack("{s:{ss ss}}", "data", "type", "vcs-events", "id", event.text));
}

/* Of the workspaces that wait, those that the user may manage. If there are none, the user does not learn of the event.
 */
static int approvable(const struct request *req, const struct rows *waiting, struct db_array *ret_ids, struct err *err)
{
	for (int i = 0; i < waiting->count; i++) {
		const char *id = row_of(vcs_approval_workspaces, waiting, i)->workspace_id;
		struct err why = ERR_INIT;
		struct scope scope;

		if (scope_workspace_id(req, id, &scope, &why) == 0) {
			db_array_add(ret_ids, id);
		} else if (why.kind != ERR_NOT_FOUND) {
			*err = why;
			return -1;
		}
	}
	return ret_ids->count ? 0 : err_set(err, ERR_NOT_FOUND, "event not found");
}

int vcs_approve(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(db_array_release) struct db_array workspaces = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows waiting = ROWS_INIT;
	const char *event = param(req, "vcs_event");

	if (vcs_approval_read(req->store, event, &waiting, err) < 0 ||
		approvable(req, &waiting, &workspaces, err) < 0 ||
		vcs_approval_give(req->store, event, &workspaces, err) < 0)
		return -1;
	return respond_empty(res, 202);
}
