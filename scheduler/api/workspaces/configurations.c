/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/api/include_resolver.h"
#include "scheduler/api/registry/registry.h"
#include "scheduler/api/resources.h"
#include "scheduler/api/workspaces/archive.h"
#include "scheduler/auth/signed.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/http/scope.h"
#include "scheduler/runs/run_create.h"
#include "scheduler/store/registry/test_beds.h"
#include "scheduler/store/states/backing_data.h"
#include "scheduler/store/workspaces/configurations.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/workspaces/configurations.sql.h"

static json_t *configuration_resource(const void *of_row)
{
	const struct configuration_row *configuration = of_row;
	_cleanup_(freep) char *self = mem_printf("/api/v2/configuration-versions/%s", configuration->id);
	_cleanup_(freep) char *download = mem_printf("%s/download", self);
	json_t *attributes = json_pack("{s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:[]}", "auto-queue-runs",
		configuration->auto_queue_runs, "speculative", configuration->speculative, "provisional",
		configuration->provisional, "source", json_string_or_null(configuration->source), "status",
		json_string_or_null(configuration->status), "status-timestamps",
		json_shown(configuration->status_timestamps), "error", json_string_or_null(configuration->error),
		"error-message", json_string_or_null(configuration->error_message), "changed-files");
	json_t *resource = resource_new("configuration-versions", configuration->id, attributes,
		json_pack("{s:o, s:o}", "ingress-attributes", to_one("ingress-attributes", configuration->ingress_id),
			"run", to_one("runs", configuration->run_id)));

	json_object_set_new(resource, "links", json_pack("{s:s, s:s}", "self", self, "download", download));
	return resource;
}

/* The configuration version of the path, or of the path's run, if the actor may see it. */
static int configuration_of(struct request *req, struct rows *ret_rows, struct err *err)
{
	const struct configuration_row *configuration;
	struct err hidden = ERR_INIT;
	struct scope scope;

	if (*param(req, "run") ? configuration_of_run(req->store, param(req, "run"), ret_rows, err) < 0
			       : configuration_read(req->store, param(req, "configuration"), ret_rows, err) < 0)
		return -1;
	configuration = row_of(configuration, ret_rows, 0);
	if (req->actor.kind == ACTOR_TASK)
		return actor_may_for_task(req->store, &req->actor, NULL, configuration->id, err);
	if (configuration->module_id)
		return may_with(req, CAN_MANAGE_MODULES, (struct place){.organization = configuration->organization_id},
			"configuration version", err);
	if (scope_workspace_id(req, configuration->workspace_id, &scope, &hidden) == 0)
		return 0;
	if (hidden.kind != ERR_NOT_FOUND)
		*err = hidden;
	else
		err_set(err, ERR_NOT_FOUND, "configuration version not found");
	return -1;
}

/* ---- creating and reading ---- */

/* The CLI sends a header that identifies it. All other clients count as the API. */
static const char *source_of(const struct request *req)
{
	return text_equal(http_header(req->http, "X-Terraform-Integration"), "cloud") ? "terraform+cloud" : "tfe-api";
}

static int create_respond(
	struct request *req, struct response *res, const struct configuration_order *order, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *path = NULL;
	_cleanup_(freep) char *url = NULL;
	struct id id;
	json_t *resource;

	if (configuration_create(req->store, order, &id, err) < 0 ||
		configuration_read(req->store, id.text, &rows, err) < 0)
		return -1;
	path = mem_printf("/configuration-versions/%s/upload", id.text);
	url = signed_url(req->store, path);
	resource = configuration_resource(row_of(configuration, &rows, 0));
	json_object_set_new(json_object_get(resource, "attributes"), "upload-url", json_string(url));
	return respond_resource(res, 201, resource);
}

int configurations_create(struct request *req, struct response *res, struct err *err)
{
	struct configuration_order order = {.auto_queue_runs = true, .source = source_of(req)};
	struct scope scope;

	if (scope_workspace(req, &scope, err) < 0 ||
		(req->body && body_check(req, "configuration-versions", err) < 0) ||
		body_bool(req, "auto-queue-runs", &order.auto_queue_runs, err) < 0 ||
		body_bool(req, "speculative", &order.speculative, err) < 0 ||
		body_bool(req, "provisional", &order.provisional, err) < 0)
		return -1;
	order.workspace_id = scope.workspace.text;
	order.created_by = req->actor.user.text;
	return create_respond(req, res, &order, err);
}

/* For the tests of a module: clients create the test run after the upload. */
int test_configurations_create(struct request *req, struct response *res, struct err *err)
{
	struct configuration_order order = {.provisional = true, .source = source_of(req)};
	struct id module, bed;

	if (registry_tested_module(req, &module, err) < 0 || test_bed_open(req->store, module.text, &bed, err) < 0)
		return -1;
	order.workspace_id = bed.text;
	order.created_by = req->actor.user.text;
	return create_respond(req, res, &order, err);
}

static const struct inclusion includes[] = {
	{"ingress_attributes", "configuration-versions", "ingress-attributes", &kind_ingress_attributes},
	{"run", "configuration-versions", "run", &kind_runs},
};

const struct resource_kind kind_configurations = {.type = "configuration-versions",
	.ask = configurations_read_all,
	.show = configuration_resource,
	KIND_INCLUDES(includes)};

int configurations_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (includes_check(req, &kind_configurations, err) < 0 || configuration_of(req, &rows, err) < 0)
		return -1;
	return respond_row(req, res, 200, &(struct resource_rows){&kind_configurations, &rows}, err);
}

static int page_of_configurations(const struct request *req, const struct scope *scope, const struct page *page,
	struct rows *ret_rows, struct err *err)
{
	return configurations_list(
		req->store, scope->workspace.text, (struct list_range){page->size, page->offset}, ret_rows, err);
}

int configurations_index(struct request *req, struct response *res, struct err *err)
{
	return respond_list(
		req, res, &(struct resource_list){&kind_configurations, scope_workspace, page_of_configurations}, err);
}

int configurations_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(BODY_ARCHIVE);
	const struct configuration_row *configuration;

	if (configuration_of(req, &rows, err) < 0)
		return -1;
	configuration = row_of(configuration, &rows, 0);
	if (!text_equal(configuration->status, "uploaded"))
		return err_set(err, ERR_NOT_FOUND, "the configuration version has no files");
	if (blob_get(req->store, configuration->blob_id, &bytes, err) < 0)
		return -1;
	return respond_bytes(res, "application/gzip", &bytes);
}

static int backing_change(struct request *req, struct response *res, enum backing_change change, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (configuration_of(req, &rows, err) < 0 ||
		backing_data_change(
			req->store, BACKING_CONFIGURATION, change, row_of(configuration, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

int configurations_soft_delete(struct request *req, struct response *res, struct err *err)
{
	return backing_change(req, res, BACKING_SOFT_DELETE, err);
}

int configurations_restore(struct request *req, struct response *res, struct err *err)
{
	return backing_change(req, res, BACKING_RESTORE, err);
}

int configurations_permanently_delete(struct request *req, struct response *res, struct err *err)
{
	return backing_change(req, res, BACKING_DELETE, err);
}

int configurations_archive(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (configuration_of(req, &rows, err) < 0 ||
		configuration_archive(req->store, row_of(configuration, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 202);
}

/* ---- the upload ---- */

/* Queues a run for the upload if the configuration version has auto-queue-runs and is not provisional. The run's actor
 * is the creator of the version. */
static int upload_queue_run(struct request *req, const struct configuration_row *configuration, struct err *err)
{
	struct run_create_params order = {
		.workspace_id = configuration->workspace_id,
		.configuration_version_id = configuration->id,
		.actor = configuration->created_by,
		.source = "tfe-configuration-version",
		.plan_only = CHOICE_UNSET,
		.auto_apply = CHOICE_UNSET,
	};
	struct id run;

	if (!configuration->auto_queue_runs || configuration->provisional)
		return 0;
	return run_create(req->store, &order, &run, err);
}

int configurations_upload(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *id = param(req, "configuration");
	const struct configuration_row *configuration;
	struct err ignored = ERR_INIT;
	bool first;

	if (configuration_read(req->store, id, &rows, err) < 0)
		return -1;
	configuration = row_of(configuration, &rows, 0);
	audit_note_place(req->audit,
		&(struct place){.organization = configuration->organization_id,
			.workspace = configuration->module_id ? NULL : configuration->workspace_id});
	if (archive_check(req->http->body.data, req->http->body.len, err) < 0) {
		configuration_refuse(req->store, id, err->message, &ignored);
		return -1;
	}
	if (configuration_upload(req->store, id, buf_bytes(&req->http->body), &first, err) < 0 ||
		(first && upload_queue_run(req, configuration, err) < 0))
		return -1;
	return respond_empty(res, 200);
}
