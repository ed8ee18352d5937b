/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/states.h"

#include "scheduler/api/scope.h"
#include "scheduler/store/states.h"

/* ---- the resource ---- */

/* Type names as they are counted: "aws-instance". */
static void count_add(json_t *groups, const char *group, const char *type, json_int_t count)
{
	json_t *types = json_object_get(groups, group);
	_cleanup_(freep) char *name = mem_text(type);

	for (char *at = name; *at; at++)
		if (*at == '_')
			*at = '-';
	if (!types) {
		types = json_object();
		json_object_set_new(groups, group, types);
	}
	json_object_set_new(types, name, json_integer(count + json_integer_value(json_object_get(types, name))));
}

/* How many resources of which type there are, by the member of each that is given. */
static json_t *counts_by(const json_t *resources, const char *member)
{
	json_t *groups = json_object();
	const json_t *resource;
	size_t i;

	json_array_foreach(resources, i, resource)
	{
		const char *group = json_string_at(resource, member);

		if (group)
			count_add(groups, group, text_or_empty(json_string_at(resource, "type")),
				json_int_at(resource, "count", 0));
	}
	return groups;
}

static json_t *state_relations(const struct rows *rows, int row)
{
	json_auto_t *output_ids = row_json(rows, row, "output_ids");

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "run", to_one("runs", row_text(rows, row, "run_id")),
		"created-by", to_one("users", row_text(rows, row, "created_by")), "workspace",
		to_one("workspaces", row_text(rows, row, "workspace_id")), "rollback-state-version",
		to_one("state-versions", NULL), "outputs", to_many("state-version-outputs", output_ids));
}

json_t *state_resource(const struct store *store, const struct rows *rows, int row)
{
	const char *id = row_text(rows, row, "id");
	json_t *resources = row_json(rows, row, "resources");
	bool there = !row_null(rows, row, "blob_id");
	_cleanup_(freep) char *url = mem_printf("%s/api/v2/state-versions/%s/download", store->public_url, id);
	_cleanup_(freep) char *self = mem_printf("/api/v2/state-versions/%s", id);
	json_t *attributes = json_pack("{s:I, s:s, s:s, s:I, s:o, s:o, s:o, s:n, s:n, s:n, s:b, s:i, s:o}", "serial",
		(json_int_t)row_int(rows, row, "serial"), "lineage", row_text(rows, row, "lineage"), "md5",
		row_text(rows, row, "md5"), "size", (json_int_t)row_int(rows, row, "size"), "status",
		row_string(rows, row, "status"), "created-at", row_time(rows, row, "created_at"),
		"hosted-state-download-url", json_string_or_null(there ? url : NULL), "hosted-state-upload-url",
		"hosted-json-state-download-url", "hosted-json-state-upload-url", "resources-processed", there,
		"state-version", 4, "terraform-version", row_string(rows, row, "terraform_version"));
	json_t *resource = resource_new("state-versions", id, attributes, state_relations(rows, row));

	json_object_set_new(attributes, "modules", counts_by(resources, "module"));
	json_object_set_new(attributes, "providers", counts_by(resources, "provider"));
	json_object_set_new(attributes, "resources", resources);
	json_object_set_new(attributes, "intermediate", json_boolean(row_bool(rows, row, "intermediate")));
	json_object_set_new(attributes, "recovered", json_boolean(row_bool(rows, row, "recovered")));
	json_object_set_new(attributes, "vcs-commit-sha", json_null());
	json_object_set_new(attributes, "vcs-commit-url", json_null());
	json_object_set_new(attributes, "billable-rum-count", json_integer(0));
	json_object_set_new(resource, "links", json_pack("{s:s}", "self", self));
	return resource;
}

int state_output_resource(
	struct store *store, const struct rows *rows, int row, bool shown, json_t **ret_resource, struct err *err)
{
	const char *id = row_text(rows, row, "id");
	_cleanup_(freep) char *self = mem_printf("/api/v2/state-version-outputs/%s", id);
	bool sensitive = row_bool(rows, row, "sensitive");
	json_t *value = NULL;
	json_t *resource;

	if ((shown || !sensitive) && state_output_value(store, rows, row, &value, err) < 0)
		return -1;
	resource = resource_new("state-version-outputs", id,
		json_pack("{s:o, s:b, s:o, s:o, s:o}", "name", row_string(rows, row, "name"), "sensitive", sensitive,
			"type", row_string(rows, row, "type"), "value", value ? value : json_null(), "detailed-type",
			row_json(rows, row, "detailed_type")),
		NULL);
	json_object_set_new(resource, "links", json_pack("{s:s}", "self", self));
	*ret_resource = resource;
	return 0;
}

/* ---- finding ---- */

static const char *const includes[] = {
	"outputs", "created-by", "run", "run.created-by", "run.configuration-version", NULL};

/* The state version of the path, which the actor may see. */
static int state_of(struct request *req, struct rows *ret_rows, struct err *err)
{
	struct scope scope;

	if (state_read(req->store, param(req, "state"), ret_rows, err) < 0)
		return -1;
	return scope_workspace_id(req, row_text(ret_rows, 0, "workspace_id"), &scope, err);
}

/* The current one of the path's workspace. */
static int state_of_workspace(struct request *req, struct rows *ret_rows, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		db_query(req->store->db, &rows, err, "select current_state_id from workspaces where id = $1",
			P_TEXT(scope.workspace.text)) < 0)
		return -1;
	if (!rows.count || row_null(&rows, 0, "current_state_id"))
		return err_set(err, ERR_NOT_FOUND, "the workspace has no state");
	return state_read(req->store, row_text(&rows, 0, "current_state_id"), ret_rows, err);
}

static int outputs_read(struct store *store, const char *state_id, bool shown, json_t **ret_list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *list = json_array();

	if (state_outputs(store, state_id, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		json_t *resource;

		if (state_output_resource(store, &rows, i, shown, &resource, err) < 0)
			return -1;
		json_array_append_new(list, resource);
	}
	*ret_list = json_incref(list);
	return 0;
}

static int state_respond(
	struct request *req, struct response *res, int status, const struct rows *rows, struct err *err)
{
	json_t *included = NULL;

	if (query_includes(req, "outputs") &&
		outputs_read(req->store, row_text(rows, 0, "id"), true, &included, err) < 0)
		return -1;
	return respond_including(res, status, state_resource(req->store, rows, 0), included);
}

/* ---- reading ---- */

int states_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (query_includes_check(req, includes, err) < 0 || state_of(req, &rows, err) < 0)
		return -1;
	return state_respond(req, res, 200, &rows, err);
}

int states_current(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (query_includes_check(req, includes, err) < 0 || state_of_workspace(req, &rows, err) < 0)
		return -1;
	return state_respond(req, res, 200, &rows, err);
}

/* Both filters are required, and name one workspace. */
static int scope_filtered(struct request *req, struct scope *ret_scope, struct err *err)
{
	const char *organization = query(req, "filter[organization][name]");
	const char *workspace = query(req, "filter[workspace][name]");

	if (!organization || !*organization)
		return err_set(err, ERR_MALFORMED, "filter[organization][name] is required");
	if (!workspace || !*workspace)
		return err_set(err, ERR_MALFORMED, "filter[workspace][name] is required");
	return scope_workspace_named(req, organization, workspace, ret_scope, err);
}

int states_index(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct state_list list = {.status = query(req, "filter[status]")};
	struct scope scope;
	struct page page;
	json_t *data;

	if (query_includes_check(req, includes, err) < 0 || page_read(req, &page, err) < 0 ||
		scope_filtered(req, &scope, err) < 0)
		return -1;
	list.workspace_id = scope.workspace.text;
	list.limit = page.size;
	list.offset = page.offset;
	if (states_list(req->store, &list, &rows, err) < 0)
		return -1;
	page.total = row_int(&rows, 0, "total");
	data = json_array();
	for (int i = 0; i < rows.count && !row_null(&rows, i, "id"); i++)
		json_array_append_new(data, state_resource(req->store, &rows, i));
	return respond_page(req, res, &page, data, NULL);
}

int states_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(BODY_STATE);

	if (state_of(req, &rows, err) < 0)
		return -1;
	if (blob_get(req->store, row_text(&rows, 0, "blob_id"), &bytes, err) < 0)
		return -1;
	return respond_bytes(res, "application/json", &bytes);
}

/* ---- outputs ---- */

/* One page of a list that is all in memory. */
static int respond_slice(struct request *req, struct response *res, const json_t *list, struct err *err)
{
	struct page page;
	json_t *data;

	if (page_read(req, &page, err) < 0)
		return -1;
	page.total = (long long)json_array_size(list);
	data = json_array();
	for (long long i = page.offset; i < page.total && i < page.offset + page.size; i++)
		json_array_append(data, json_array_get(list, (size_t)i));
	return respond_page(req, res, &page, data, NULL);
}

int states_outputs(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *list;
	int result;

	if (state_of(req, &rows, err) < 0 || outputs_read(req->store, row_text(&rows, 0, "id"), true, &list, err) < 0)
		return -1;
	result = respond_slice(req, res, list, err);
	json_decref(list);
	return result;
}

/* Sensitive values are null here: clients ask for each of those by its id. */
int states_current_outputs(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *list;

	if (state_of_workspace(req, &rows, err) < 0 ||
		outputs_read(req->store, row_text(&rows, 0, "id"), false, &list, err) < 0)
		return -1;
	return respond_resource(res, 200, list);
}

int state_outputs_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct scope scope;
	json_t *resource;

	if (state_output_read(req->store, param(req, "output"), &rows, err) < 0 ||
		scope_workspace_id(req, row_text(&rows, 0, "workspace_id"), &scope, err) < 0 ||
		state_output_resource(req->store, &rows, 0, true, &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}
