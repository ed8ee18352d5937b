/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/mocks.h"
#include "common/terraform/plan_text.h"
#include "scheduler/api/api.h"
#include "scheduler/api/runs/mock_bundle.h"
#include "scheduler/store/policies/policy_runs.h"
#include "scheduler/store/runs/plan_exports.h"
#include "scheduler/store/runs/plan_exports.sql.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/content/blobs.h"

enum { EXPORT_LIMIT = 1 << 30 };

static const char data_type_mocks[] = "sentinel-mock-bundle-v0";

static json_t *export_resource(const struct rows *rows)
{
	const char *id = row_of(plan_export_read, rows, 0)->id;
	bool expired = row_of(plan_export_read, rows, 0)->expired;
	_cleanup_(freep) char *self = mem_printf("/api/v2/plan-exports/%s", id);
	_cleanup_(freep) char *download = mem_printf("%s/download", self);
	json_t *times = json_pack("{so so}", "queued-at", time_shown(row_of(plan_export_read, rows, 0)->created_at),
		"finished-at", time_shown(row_of(plan_export_read, rows, 0)->created_at));
	json_t *resource;

	if (expired)
		json_object_set_new(times, "expired-at", time_shown(row_of(plan_export_read, rows, 0)->expires_at));
	resource = resource_new("plan-exports", id,
		json_pack("{so ss so}", "data-type", json_string_or_null(row_of(plan_export_read, rows, 0)->data_type),
			"status", expired ? "expired" : "finished", "status-timestamps", times),
		json_pack("{so}", "plan", to_one("plans", row_of(plan_export_read, rows, 0)->plan_id)));
	json_object_set_new(resource, "links", json_pack("{ss ss}", "self", self, "download", download));
	return resource;
}

static int export_in_path(struct request *req, struct rows *ret_rows, struct err *err)
{
	if (plan_export_read(req->store, param(req, "export"), ret_rows, err) < 0)
		return -1;
	return may(req, place_of(ret_rows), "plan export", err);
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
	return may(req, place_of(&plan), "plan", err);
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
	return respond_resource(res, 201, export_resource(&rows));
}

int plan_exports_read(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (export_in_path(req, &rows, err) < 0)
		return -1;
	return respond_resource(res, 200, export_resource(&rows));
}

int plan_exports_delete(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (export_in_path(req, &rows, err) < 0 ||
		plan_export_delete(req->store, row_of(plan_export_read, &rows, 0)->id, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* ---- the content ---- */

/* *ret_schemas stays NULL if the plan has none. */
static int schemas_read(struct request *req, const struct rows *rows, json_t **ret_schemas, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(EXPORT_LIMIT);

	if (!row_of(plan_export_read, rows, 0)->schemas_blob)
		return 0;
	if (blob_get(req->store, row_of(plan_export_read, rows, 0)->schemas_blob, &text, err) < 0)
		return -1;
	return json_parse(buf_str(&text), text.len, ret_schemas, err);
}

static int bundle_make(struct request *req, const struct rows *rows, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(EXPORT_LIMIT);
	json_auto_t *plan = NULL, *facts = NULL, *run = NULL, *schemas = NULL;

	if (blob_get(req->store, row_of(plan_export_read, rows, 0)->json_blob, &text, err) < 0 ||
		schemas_read(req, rows, &schemas, err) < 0 ||
		policy_run_facts(req->store, row_of(plan_export_read, rows, 0)->run_id, &facts, err) < 0)
		return -1;
	plan = plan_parse(buf_str(&text), text.len);
	if (!plan)
		return err_set(err, ERR_MALFORMED, "the plan as JSON can't be read");
	run = policy_run(facts);
	return mock_bundle_write(&(struct mock_source){plan, run, schemas}, out, err);
}

int plan_exports_download(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bundle = BUF_INIT(EXPORT_LIMIT);

	if (export_in_path(req, &rows, err) < 0)
		return -1;
	if (row_of(plan_export_read, &rows, 0)->expired)
		return err_set(err, ERR_NOT_FOUND, "the plan export has expired: make another");
	if (bundle_make(req, &rows, &bundle, err) < 0)
		return -1;
	return respond_bytes(res, "application/gzip", &bundle);
}
