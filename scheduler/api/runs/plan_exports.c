/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/mocks.h"
#include "common/terraform/plan_text.h"
#include "scheduler/api/api.h"
#include "scheduler/api/runs/mock_bundle.h"
#include "scheduler/store/policies/policy_runs.h"
#include "scheduler/store/runs/plan_exports.h"
#include "scheduler/store/runs/plan_exports.sql.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/run_views.sql.h"
#include "scheduler/store/content/blobs.h"

enum { EXPORT_LIMIT = 1 << 30 };

static const char data_type_mocks[] = "sentinel-mock-bundle-v0";

static json_t *export_resource(const struct plan_export_row *export)
{
	_cleanup_(freep) char *self = mem_printf("/api/v2/plan-exports/%s", export->id);
	_cleanup_(freep) char *download = mem_printf("%s/download", self);
	json_t *times = json_pack(
		"{so so}", "queued-at", time_shown(export->created_at), "finished-at", time_shown(export->created_at));
	json_t *resource;

	if (export->expired)
		json_object_set_new(times, "expired-at", time_shown(export->expires_at));
	resource = resource_new("plan-exports", export->id,
		json_pack("{ss ss so}", "data-type", export->data_type, "status",
			export->expired ? "expired" : "finished", "status-timestamps", times),
		json_pack("{so}", "plan", to_one("plans", export->plan_id)));
	json_object_set_new(resource, "links", json_pack("{ss ss}", "self", self, "download", download));
	return resource;
}

static int export_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (plan_export_read(req->store, param(req, "export"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(row_of(plan_export, ret_rows, 0)), "plan export", err);
}

/* The plan that the body names, if the actor may export it. */
static int plan_in_body(struct request *req, const char **ret_plan, struct err *err)
{
	_cleanup_(rows_release) struct rows plan = ROWS_INIT;
	const char *id = body_relation(req, "plan");

	if (!id)
		return err_at(err, "/data/relationships/plan", "Plan must exist");
	if (!id_valid(id, "plan"))
		return err_set(err, ERR_NOT_FOUND, "plan not found");
	*ret_plan = id;
	if (operation_view(req->store, id, &plan, err) < 0)
		return -1;
	return may(req, place_of(row_of(operation, &plan, 0)), "plan", err);
}

int plan_exports_create(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *data_type = NULL, *plan = NULL;
	struct id id;

	if (body_check(req, "plan-exports", err) < 0 || plan_in_body(req, &plan, err) < 0 ||
		body_text(req, "data-type", &data_type, err) < 0)
		return -1;
	if (!text_equal(data_type, data_type_mocks))
		return err_at(err, "/data/attributes/data-type", "Data type must be %s", data_type_mocks);
	const struct new_plan_export export = {plan, data_type, req->actor.user.text};
	if (plan_export_create(req->store, &export, &id, err) < 0 ||
		plan_export_read(req->store, id.text, &rows, err) < 0)
		return -1;
	return respond_resource(res, 201, export_resource(row_of(plan_export, &rows, 0)));
}

int plan_exports_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (export_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, export_resource(row_of(plan_export, &rows, 0)));
}

int plan_exports_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (export_in_path(req, &rows, err) < 0 ||
		plan_export_delete(req->store, row_of(plan_export, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- the content ---- */

/* *ret_schemas stays NULL if the plan has none. */
static int schemas_read(
	struct request *req, const struct plan_export_row *export, struct json_document *ret_schemas, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(EXPORT_LIMIT);

	if (!export->schemas_blob)
		return 0;
	if (blob_get(req->store, export->schemas_blob, &text, err) < 0)
		return -1;
	return json_document_parse(ret_schemas, buf_str(&text), text.len, err);
}

static int bundle_make(struct request *req, const struct plan_export_row *export, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(EXPORT_LIMIT);
	_cleanup_(json_document_release) struct json_document plan = JSON_NO_DOCUMENT, schemas = JSON_NO_DOCUMENT;
	json_auto_t *facts = NULL, *run = NULL;

	if (blob_get(req->store, export->json_blob, &text, err) < 0 || schemas_read(req, export, &schemas, err) < 0 ||
		policy_run_facts(req->store, export->run_id, &facts, err) < 0 ||
		plan_parse(buf_str(&text), text.len, &plan, err) < 0)
		return -1;
	run = policy_run(facts);
	return mock_bundle_write(&(struct mock_source){plan.value, run, schemas.value}, out, err);
}

int plan_exports_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bundle = BUF_INIT(EXPORT_LIMIT);

	if (export_in_path(req, &rows, err) < 0)
		return -1;
	if (row_of(plan_export, &rows, 0)->expired)
		return err_set(err, ERR_NOT_FOUND, "the plan export has expired: make another");
	if (bundle_make(req, row_of(plan_export, &rows, 0), &bundle, err) < 0)
		return -1;
	return respond_bytes(res, "application/gzip", &bundle);
}
