/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/policies/policies.h"

#include "scheduler/api/api.h"

#include <string.h>

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/names.h"
#include "scheduler/store/policies/policies.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/policies/policies.sql.h"

enum { MAX_DESCRIPTION = 1000, MAX_QUERY = 1000 };

/* The kinds of policies, each with its file suffix and its levels. The strictest level is first, and is the default. */
static const struct kind {
	const char *name, *suffix;
	const char *levels[4];
} kinds[] = {
	{"sentinel", ".sentinel", {"hard-mandatory", "soft-mandatory", "advisory", NULL}},
	{"opa", ".rego", {"mandatory", "advisory", NULL}},
};

static const struct kind *kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (text_equal(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

int policy_kind_check(const char *kind, struct err *err)
{
	return kind_find(kind) ? 0 : err_at(err, "/data/attributes/kind", "Kind must be sentinel or opa");
}

/* ---- the resource ---- */

/* The older form of the enforcement level. It names the policy's file, so it is empty until the file is uploaded. */
static json_t *enforce_show(const struct policy_row *row)
{
	const struct kind *kind = kind_find(row->kind);
	_cleanup_(freep) char *path = NULL;

	if (!kind || !row->blob_id)
		return json_array();
	path = mem_printf("%s%s", row->name, kind->suffix);
	return json_pack("[{ss so}]", "path", path, "mode", json_string_or_null(row->enforcement));
}

static json_t *policy_resource(const void *of_row)
{
	const struct policy_row *policy = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/policies/%s", policy->id);
	_cleanup_(freep) char *upload = mem_printf("%s/upload", self);
	_cleanup_(freep) char *download = policy->blob_id ? mem_printf("%s/download", self) : NULL;
	json_t *resource = resource_new("policies", policy->id,
		json_pack("{ss ss so ss ss so sI so so}", "name", policy->name, "kind", policy->kind, "query",
			json_string_or_null(policy->query), "description", policy->description, "enforcement-level",
			policy->enforcement, "enforce", enforce_show(policy), "policy-set-count",
			(json_int_t)policy->policy_set_count, "created-at", time_shown(policy->created_at),
			"updated-at", time_shown(policy->updated_at)),
		json_pack("{so so}", "organization", to_one("organizations", policy->organization_name), "policy-sets",
			many_shown("policy-sets", policy->policy_sets)));

	json_object_set_new(resource, "links",
		json_pack("{ss ss so}", "self", self, "upload", upload, "download", json_string_or_null(download)));
	return resource;
}

/* ---- reading ---- */

static const struct inclusion includes[] = {{"policy_sets", "policies", "policy-sets", &kind_policy_sets}};

const struct resource_kind kind_policies = {
	.type = "policies", .ask = policies_read_all, .show = policy_resource, KIND_INCLUDES(includes)};

static int policy_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (policy_read(req->store, param(req, "policy"), ret_rows, err) < 0)
		return -1;
	return may(req, (struct place){.organization = row_of(policy, ret_rows, 0)->organization_id}, "policy", err);
}

static int policy_show(struct request *req, struct response *res, int status, const char *id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (policy_read(req->store, id, &rows, err) < 0)
		return -1;
	return respond_resource(res, status, policy_resource(row_of(policy, &rows, 0)));
}

static int page_of_policies(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct policy_list list = {.organization_id = scope->organization.text,
		.search = query(req, "search[name]"),
		.kind = query(req, "filter[kind]"),
		.sort = text_or_null(query(req, "sort")),
		.limit = page->size,
		.offset = page->offset};

	return policies_list(req->store, &list, ret_rows, err);
}

int policies_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_policies, scope_organization, page_of_policies}, err);
}

int policies_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_policies, err) < 0 || policy_in_path(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_policies, &rows}, err);
}

/* ---- input ---- */

static int level_check(const struct kind *kind, const char *level, struct err *err)
{
	static const char pointer[] = "/data/attributes/enforcement-level";

	for (const char *const *known = kind->levels; *known; known++)
		if (text_equal(*known, level))
			return 0;
	if (kind->levels[2])
		return err_at(err, pointer, "Enforcement level must be %s, %s or %s", kind->levels[2], kind->levels[1],
			kind->levels[0]);
	return err_at(err, pointer, "Enforcement level must be %s or %s", kind->levels[1], kind->levels[0]);
}

/* Reads `enforcement-level`, or `enforce`: [{path, mode}]. */
static int level_read(const struct request *req, struct policy *policy, struct err *err)
{
	const json_t *enforce = json_at(req->body, "data.attributes.enforce");
	const char *mode = json_string_at(json_array_get(enforce, 0), "mode");

	if (body_text(req, "enforcement-level", &policy->enforcement, err) < 0)
		return -1;
	if (!enforce || json_is_null(enforce))
		return 0;
	if (json_array_size(enforce) != 1 || !mode)
		return err_at(err, "/data/attributes/enforce", "Enforce must be one {path, mode}");
	if (body_has(req, "enforcement-level") && !text_equal(mode, policy->enforcement))
		return err_at(err, "/data/attributes/enforce",
			"Enforce is deprecated and can't be set together with another enforcement level");
	policy->enforcement = mode;
	return 0;
}

static int query_check(const struct policy *policy, struct err *err)
{
	if (!policy->query || !policy->query[strspn(policy->query, " \t\r\n")])
		return err_at(err, "/data/attributes/query", "Query can't be blank");
	if (strlen(policy->query) > MAX_QUERY)
		return err_at(err, "/data/attributes/query", "Query is too long (maximum is %d characters)", MAX_QUERY);
	return 0;
}

/* Reads a body into *policy. Attributes that were not sent stay as they are. The kind must be set. */
static int input_read(const struct request *req, struct policy *policy, struct err *err)
{
	const struct kind *kind = kind_find(policy->kind);

	if (body_text(req, "query", &policy->query, err) < 0 ||
		body_text(req, "description", &policy->description, err) < 0 || level_read(req, policy, err) < 0)
		return -1;
	policy->description = text_or_empty(policy->description);
	if (strlen(policy->description) > MAX_DESCRIPTION)
		return err_at(err, "/data/attributes/description", "Description is too long (maximum is %d characters)",
			MAX_DESCRIPTION);
	if (!policy->enforcement)
		policy->enforcement = kind->levels[0];
	if (!text_equal(kind->name, "opa"))
		policy->query = NULL;
	else if (query_check(policy, err) < 0)
		return -1;
	return level_check(kind, policy->enforcement, err);
}

/* ---- creating and changing ---- */

int policies_create(struct request *req, struct response *res, struct err *err)
{
	struct policy policy = {.kind = kinds[0].name};
	struct scope scope;
	struct id id;

	if (scope_organization(req, &scope, err) < 0 || body_check(req, "policies", err) < 0 ||
		body_text(req, "name", &policy.name, err) < 0 || body_text(req, "kind", &policy.kind, err) < 0 ||
		policy_kind_check(policy.kind, err) < 0 || input_read(req, &policy, err) < 0 ||
		name_check("Name", "/data/attributes/name", policy.name, err) < 0 ||
		policy_create(req->store, scope.organization.text, &policy, &id, err) < 0)
		return -1;
	return policy_show(req, res, 201, id.text, err);
}

static int unchanged_check(const struct request *req, const struct policy_row *policy, struct err *err)
{
	const char *name = policy->name, *kind = policy->kind;
	const char *name_sent = name, *kind_sent = kind;

	if (body_text(req, "name", &name_sent, err) < 0 || body_text(req, "kind", &kind_sent, err) < 0)
		return -1;
	if (!text_equal(name, name_sent))
		return err_at(err, "/data/attributes/name", "Name of a policy can't be changed");
	return text_equal(kind, kind_sent) ? 0
					   : err_at(err, "/data/attributes/kind", "Kind of a policy can't be changed");
}

int policies_update(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct policy_row *before;
	struct policy policy;

	if (policy_in_path(req, &rows, err) < 0 || body_check(req, "policies", err) < 0)
		return -1;
	before = row_of(policy, &rows, 0);
	if (unchanged_check(req, before, err) < 0)
		return -1;
	policy = (struct policy){.kind = before->kind,
		.description = before->description,
		.query = before->query,
		.enforcement = before->enforcement};
	if (input_read(req, &policy, err) < 0 || policy_update(req->store, before->id, &policy, err) < 0)
		return -1;
	return policy_show(req, res, 200, before->id, err);
}

int policies_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (policy_in_path(req, &rows, err) < 0 || policy_delete(req->store, row_of(policy, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- the policy's text ---- */

static int source_check(const struct buf *source, struct err *err)
{
	json_t *text = json_stringn(source->len ? source->data : "", source->len);
	bool plain = text && !memchr(json_string_value(text), '\0', source->len);

	json_decref(text);
	return plain ? 0 : err_set(err, ERR_INVALID, "a policy must be text in UTF-8");
}

int policies_upload(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct buf *body = &req->http->body;

	if (policy_in_path(req, &rows, err) < 0 || source_check(body, err) < 0 ||
		policy_upload(req->store, row_of(policy, &rows, 0)->id, body->len ? body->data : "", body->len, err) <
			0)
		return -1;
	return policy_show(req, res, 200, row_of(policy, &rows, 0)->id, err);
}

int policies_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf source = BUF_INIT(POLICY_SOURCE_LIMIT);

	if (policy_in_path(req, &rows, err) < 0)
		return -1;
	if (!row_of(policy, &rows, 0)->blob_id)
		return err_set(err, ERR_NOT_FOUND, "the policy has no content");
	if (blob_get(req->store, row_of(policy, &rows, 0)->blob_id, &source, err) < 0)
		return -1;
	return respond_bytes(res, "text/plain; charset=utf-8", &source);
}
