/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/states/states.h"

#include "scheduler/api/api.h"

#include "scheduler/api/include_resolver.h"
#include "scheduler/api/resources.h"
#include "scheduler/http/columns.h"
#include "scheduler/http/scope.h"
#include "scheduler/store/states/backing_data.h"
#include "scheduler/store/states/state_bases.h"
#include "scheduler/store/states/states.h"
#include "scheduler/store/content/blobs.h"

/* ---- the resource ---- */

/* Adds to the count of a type. Counts have type names such as "aws-instance". */
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

/* Counts resources by type, grouped by the given member of each resource. */
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

/* The number of managed resources, without types that exist only within terraform. */
static json_int_t billable(const json_t *resources)
{
	static const char *const free_of_charge[] = {"terraform_data", "null_resource"};
	const json_t *resource;
	json_int_t total = 0;
	size_t i;

	json_array_foreach(resources, i, resource)
	{
		const char *type = text_or_empty(json_string_at(resource, "type"));

		if (!text_starts(type, "data.") && !text_equal(type, free_of_charge[0]) &&
			!text_equal(type, free_of_charge[1]))
			total += json_int_at(resource, "count", 0);
	}
	return total;
}

static bool has_content(const struct state_row *state)
{
	return text_equal(state->status, "finalized") || text_equal(state->status, "detached");
}

/* The URL of the content in that blob. null if the content was deleted, or there is no blob. */
static json_t *download_url(
	const struct store *store, const struct state_row *state, const char *blob_id, const char *path)
{
	_cleanup_(freep) char *url = NULL;

	if (!blob_id || !has_content(state))
		return json_null();
	url = mem_printf("%s/api/v2/state-versions/%s/%s", store->settings->public_url, state->id, path);
	return json_string(url);
}

static json_t *state_relations(const struct state_row *state)
{
	json_auto_t *output_ids = json_shown(state->output_ids);

	return json_pack("{s:o, s:o, s:o, s:o, s:o}", "run", to_one("runs", state->run_id), "created-by",
		to_one("users", state->created_by), "workspace", to_one("workspaces", state->workspace_id),
		"rollback-state-version", to_one("state-versions", state->rollback_id), "outputs",
		relation_linked(to_many("state-version-outputs", output_ids), "state-versions", state->id, "outputs"));
}

static const struct cell_shown attributes[] = {
	CELL("serial", state, serial),
	CELL("lineage", state, lineage),
	CELL("size", state, size),
	CELL("status", state, status),
	CELL_TIME("created-at", state, created_at),
	CELL_ALWAYS("hosted-state-upload-url", "null"),
	CELL_ALWAYS("hosted-json-state-upload-url", "null"),
	CELL_ALWAYS("state-version", "4"),
	CELL("terraform-version", state, terraform_version),
	CELL("intermediate", state, intermediate),
	CELL("recovered", state, recovered),
	CELL("vcs-commit-sha", state, commit_sha),
	CELL("vcs-commit-url", state, commit_url),
};

json_t *state_resource(const struct store *store, const struct state_row *state)
{
	json_t *resources = json_shown(state->resources);
	_cleanup_(freep) char *self = mem_printf("/api/v2/state-versions/%s", state->id);
	json_t *shown = cells_shown(attributes, ARRAY_LEN(attributes), state);
	json_t *resource = resource_new("state-versions", state->id, shown, state_relations(state));

	/* "": a state stored from a difference has none */
	json_object_set_new(shown, "md5", json_string_or_null(text_or_null(state->md5)));
	json_object_set_new(shown, "hosted-state-download-url", download_url(store, state, state->blob_id, "download"));
	json_object_set_new(shown, "hosted-json-state-download-url",
		download_url(store, state, state->json_blob_id, "json-download"));
	json_object_set_new(shown, "resources-processed", json_boolean(state->blob_id));
	json_object_set_new(shown, "modules", counts_by(resources, "module"));
	json_object_set_new(shown, "providers", counts_by(resources, "provider"));
	json_object_set_new(shown, "billable-rum-count", json_integer(billable(resources)));
	json_object_set_new(shown, "resources", resources);
	json_object_set_new(resource, "links", json_pack("{s:s}", "self", self));
	return resource;
}

/* Takes the value; NULL: it is hidden. */
static json_t *output_resource(const struct state_output_row *row, json_t *value)
{
	const char *id = row->id;
	_cleanup_(freep) char *self = mem_printf("/api/v2/state-version-outputs/%s", id);
	json_t *resource = resource_new("state-version-outputs", id,
		json_pack("{s:o, s:b, s:o, s:o, s:o}", "name", json_string_or_null(row->name), "sensitive",
			row->sensitive, "type", json_string_or_null(row->type), "value", value ? value : json_null(),
			"detailed-type", json_shown(row->detailed_type)),
		NULL);

	json_object_set_new(resource, "links", json_pack("{s:s}", "self", self));
	return resource;
}

static int output_make(struct store *store, const void *row, json_t **ret_resource, struct err *err)
{
	json_t *value = NULL;

	if (state_output_value(store, row, &value, err) < 0)
		return -1;
	*ret_resource = output_resource(row, value);
	return 0;
}

/* The same without a sensitive value. */
static int output_make_public(struct store *store, const void *row, json_t **ret_resource, struct err *err)
{
	const struct state_output_row *output = row;

	if (!output->sensitive)
		return output_make(store, row, ret_resource, err);
	*ret_resource = output_resource(output, NULL);
	return 0;
}

const struct resource_kind kind_outputs = {
	.type = "state-version-outputs", .ask = state_outputs_read_all, .make = output_make};
static const struct resource_kind kind_public_outputs = {.type = "state-version-outputs", .make = output_make_public};

/* ---- finding ---- */

static const struct inclusion includes[] = {
	{"outputs", "state-versions", "outputs", &kind_outputs},
	{"created_by", "state-versions", "created-by", &kind_users},
	{"run", "state-versions", "run", &kind_runs},
	{"run.created_by", "runs", "created-by", &kind_users},
	{"run.configuration_version", "runs", "configuration-version", &kind_configurations},
};

static int state_make(struct store *store, const void *row, json_t **ret_resource, struct err *err)
{
	(void)err;
	*ret_resource = state_resource(store, row);
	return 0;
}

const struct resource_kind kind_states = {
	.type = "state-versions", .ask = states_read_all, .make = state_make, KIND_INCLUDES(includes)};

/* The state version of the path, if the actor may see it. */
static int state_of(struct request *req, struct rows *ret_rows, struct err *err)
{
	struct scope scope;

	if (state_read(req->store, param(req, "state"), ret_rows, err) < 0)
		return -1;
	return scope_workspace_id(req, row_of(state, ret_rows, 0)->workspace_id, &scope, err);
}

/* The current state version of the path's workspace. */
static int state_of_workspace(struct request *req, struct rows *ret_rows, struct err *err)
{
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		state_read_current(req->store, scope.workspace.text, ret_rows, err) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "the workspace has no state");
}

static int outputs_read(
	struct store *store, const char *state_id, const struct resource_kind *kind, json_t **ret_list, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *list = json_array();

	if (state_outputs(store, state_id, &rows, err) < 0 || rows_show(store, kind, &rows, list, err) < 0)
		return -1;
	*ret_list = json_incref(list);
	return 0;
}

/* ---- reading ---- */

int states_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_states, err) < 0 || state_of(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_states, &rows}, err);
}

int states_current(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_states, err) < 0 || state_of_workspace(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_states, &rows}, err);
}

/* Both filters are required. They name one workspace. */
static int scope_filtered(const struct request *req, struct scope *ret_scope, struct err *err)
{
	const char *organization = query(req, "filter[organization][name]");
	const char *workspace = query(req, "filter[workspace][name]");

	if (!organization || !*organization)
		return err_set(err, ERR_MALFORMED, "filter[organization][name] is required");
	if (!workspace || !*workspace)
		return err_set(err, ERR_MALFORMED, "filter[workspace][name] is required");
	return scope_workspace_named(req, organization, workspace, ret_scope, err);
}

static int page_of_states(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	const struct state_list list = {.workspace_id = scope->workspace.text,
		.status = query(req, "filter[status]"),
		.limit = page->size,
		.offset = page->offset};

	return states_list(req->store, &list, ret_rows, err);
}

int states_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(req, res, &(struct resource_list){&kind_states, scope_filtered, page_of_states}, err);
}

static int content_state(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (state_of(req, ret_rows, err) < 0)
		return -1;
	return has_content(row_of(state, ret_rows, 0))
		? 0
		: err_set(err, ERR_NOT_FOUND, "the state version has no content");
}

int states_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(BODY_STATE);

	if (content_state(req, &rows, err) < 0 ||
		state_content(req->store, row_of(state, &rows, 0)->id, &bytes, err) < 0)
		return -1;
	return respond_bytes(res, "application/json", &bytes);
}

int states_json_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(BODY_STATE);

	if (content_state(req, &rows, err) < 0 ||
		blob_get(req->store, row_of(state, &rows, 0)->json_blob_id, &bytes, err) < 0)
		return -1;
	return respond_bytes(res, "application/json", &bytes);
}

/* ---- backing data ---- */

static int backing_change(struct request *req, struct response *res, enum backing_change change, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (state_of(req, &rows, err) < 0 ||
		backing_data_change(req->store, BACKING_STATE, change, row_of(state, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

int states_soft_delete(struct request *req, struct response *res, struct err *err)
{
	return backing_change(req, res, BACKING_SOFT_DELETE, err);
}

int states_restore(struct request *req, struct response *res, struct err *err)
{
	return backing_change(req, res, BACKING_RESTORE, err);
}

int states_permanently_delete(struct request *req, struct response *res, struct err *err)
{
	return backing_change(req, res, BACKING_DELETE, err);
}

/* ---- outputs ---- */

/* With masked=true, sensitive values are null. */
int states_outputs(struct request *req, struct response *res, struct err *err)
{
	bool masked = text_equal(query(req, "masked"), "true");
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *list = NULL;
	struct page page;

	if (page_read(req, &page, err) < 0 || state_of(req, &rows, err) < 0 ||
		outputs_read(req->store, row_of(state, &rows, 0)->id, masked ? &kind_public_outputs : &kind_outputs,
			&list, err) < 0)
		return -1;
	return respond_slice(req, res, &page, list, NULL);
}

/* Sensitive values are null in this list. Clients read each of them by its id. */
int states_current_outputs(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *list;

	if (state_of_workspace(req, &rows, err) < 0 ||
		outputs_read(req->store, row_of(state, &rows, 0)->id, &kind_public_outputs, &list, err) < 0)
		return -1;
	return respond_resource(res, 200, list);
}

int state_outputs_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct state_output_row *output;
	struct scope scope;
	json_t *resource;

	if (state_output_read(req->store, param(req, "output"), &rows, err) < 0)
		return -1;
	output = row_of(state_output, &rows, 0);
	if (scope_workspace_id(req, output->workspace_id, &scope, err) < 0 ||
		output_make(req->store, output, &resource, err) < 0)
		return -1;
	return respond_resource(res, 200, resource);
}
