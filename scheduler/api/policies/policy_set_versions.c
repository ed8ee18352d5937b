/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/store/policies/policy_set_versions.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/kinds.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/policies/policy_sets.h"
#include "scheduler/api/workspaces/archive.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/policies/policy_set_versions.sql.h"

static json_t *policy_set_version_resource(const struct store *store, const struct policy_set_version_row *version)
{
	_cleanup_(freep) char *self = mem_printf("/api/v2/policy-set-versions/%s", version->id);
	_cleanup_(freep) char *path = mem_printf("/policy-set-versions/%s/upload", version->id);
	_cleanup_(freep) char *url = signed_url(store, path);
	json_t *resource = resource_new("policy-set-versions", version->id,
		json_pack("{ss ss so so so so so so}", "source", version->source, "status", version->status,
			"status-timestamps", json_shown(version->status_timestamps), "error",
			json_string_or_null(version->error), "error-message",
			json_string_or_null(version->error_message), "ingress-attributes", json_shown(version->ingress),
			"created-at", time_shown(version->created_at), "updated-at", time_shown(version->updated_at)),
		json_pack("{so}", "policy-set", to_one("policy-sets", version->policy_set_id)));
	json_t *links = json_pack("{ss}", "self", self);

	if (!text_equal(version->status, "ready") && !version->ingress && !(store->scope && store->scope->read_only))
		json_object_set_new(links, "upload", json_string(url));
	json_object_set_new(resource, "links", links);
	return resource;
}

static int policy_set_version_make(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	(void)err;
	*ret_resource = policy_set_version_resource(store, of_row);
	return 0;
}

static const struct inclusion includes[] = {{"policy_set", "policy-set-versions", "policy-set", &kind_policy_sets}};

const struct resource_kind kind_policy_set_versions = {.type = "policy-set-versions",
	.ask = policy_set_versions_read_all,
	.make = policy_set_version_make,
	KIND_INCLUDES(includes)};

static int scope_set(const struct request *req, struct scope *ret_scope, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	(void)ret_scope;
	return policy_set_in_path(req, &rows, err);
}

static int page_of_versions(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	(void)scope;
	return policy_set_versions_list(
		req->store, param(req, "set"), (struct list_range){page->size, page->offset}, ret_rows, err);
}

int policy_set_versions_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_policy_set_versions, scope_set, page_of_versions}, err);
}

int policy_set_versions_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows set = ROWS_INIT, rows = ROWS_INIT;
	struct id id;

	if (policy_set_in_path(req, &set, err) < 0)
		return -1;
	if (set_of(&set)->repository)
		return err_set(err, ERR_INVALID, "The policy set's versions come from its VCS repository");
	if (policy_set_version_create(req->store, set_of(&set)->id, &id, err) < 0 ||
		policy_set_version_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return respond_resource(
		res, 201, policy_set_version_resource(req->store, row_of(policy_set_version, &rows, 0)));
}

int policy_set_versions_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_policy_set_versions, err) < 0 ||
		policy_set_version_read(req->store, param(req, "version"), &rows, err) < 0 ||
		may(req, (struct place){.organization = row_of(policy_set_version, &rows, 0)->organization_id},
			"policy set version", err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_policy_set_versions, &rows}, err);
}

int policy_set_versions_upload(struct request *req, struct response *res, struct err *err)
{
	const struct buf *body = &req->http->body;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = param(req, "version");
	struct err ignored = ERR_INIT;

	if (policy_set_version_read(req->store, id, &rows, err) < 0)
		return -1;
	audit_note_place(
		req->audit, &(struct place){.organization = row_of(policy_set_version, &rows, 0)->organization_id});
	if (archive_check(body->data, body->len, err) < 0) {
		policy_set_version_refuse(req->store, id, err->message, &ignored);
		return -1;
	}
	if (policy_set_version_upload(req->store, id, body->data, body->len, err) < 0)
		return -1;
	return respond_empty(res, 200);
}
