/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/dispatch/claim.h"
#include "scheduler/dispatch/results.h"
#include "scheduler/store/artifacts.h"
#include "scheduler/store/cost_estimates.h"
#include "scheduler/store/logs.h"
#include "scheduler/store/policy_runs.h"
#include "scheduler/store/states.h"

/* What a worker asks with a job's own token (proto/README.md): it dies with the attempt (DESIGN rules 4 and 5). */

enum { CONTENT_LIMIT = 1 << 30 };

static int granted(const struct request *req, struct job_grant *ret_grant, struct err *err)
{
	return job_granted(req->store, param(req, "job"), req->bearer, ret_grant, err);
}

/* The content that a column of artifacts_of_run names; 204: there is none. */
static int send(struct request *req, struct response *res, const char *column, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct buf content = BUF_INIT(CONTENT_LIMIT);
	struct job_grant grant;

	if (granted(req, &grant, err) < 0 || artifacts_of_run(req->store, grant.run.text, &rows, err) < 0)
		return -1;
	if (row_null(&rows, 0, column))
		return respond_empty(res, 204);
	if (blob_get(req->store, row_text(&rows, 0, column), &content, err) < 0) {
		buf_release(&content);
		return -1;
	}
	return respond_bytes(res, "application/octet-stream", &content);
}

int jobs_configuration(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, "configuration_blob", err);
}

int jobs_state(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, "state_blob", err);
}

int jobs_init(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, "init_blob", err);
}

int jobs_plan(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, "plan_blob", err);
}

int jobs_plan_json(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, "json_blob", err);
}

int jobs_policies(struct request *req, struct response *res, struct err *err)
{
	struct job_grant grant;
	json_t *bundle = NULL;

	if (granted(req, &grant, err) < 0 ||
		policy_run_bundle(req->store, grant.run.text, stages[grant.stage].name, &bundle, err) < 0)
		return -1;
	return respond_json(res, 200, bundle);
}

int jobs_put_cost(struct request *req, struct response *res, struct err *err)
{
	struct job_grant grant;

	if (granted(req, &grant, err) < 0)
		return -1;
	if (grant.stage != STAGE_COST)
		return err_set(err, ERR_INVALID, "the job is no cost estimate");
	if (cost_estimate_keep(req->store, grant.run.text, req->body, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int jobs_put_policy_results(struct request *req, struct response *res, struct err *err)
{
	struct job_grant grant;

	if (granted(req, &grant, err) < 0 ||
		policy_run_results(req->store, grant.run.text, stages[grant.stage].name, req->body, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

static int keep(struct request *req, struct response *res, enum artifact artifact, struct err *err)
{
	struct job_grant grant;

	if (granted(req, &grant, err) < 0 ||
		artifact_put(req->store, artifact, grant.plan.text, req->http->body.data, req->http->body.len, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int jobs_put_init(struct request *req, struct response *res, struct err *err)
{
	return keep(req, res, ARTIFACT_INIT, err);
}

int jobs_put_plan(struct request *req, struct response *res, struct err *err)
{
	return keep(req, res, ARTIFACT_PLAN, err);
}

int jobs_put_plan_json(struct request *req, struct response *res, struct err *err)
{
	return keep(req, res, ARTIFACT_PLAN_JSON, err);
}

/* The schemas of the same providers are megabytes, and the same for thousands of runs: content that is here already
 * is only named. */
int jobs_put_schemas(struct request *req, struct response *res, struct err *err)
{
	const char *digest = query(req, "digest");
	struct job_grant grant;

	if (granted(req, &grant, err) < 0)
		return -1;
	if (req->http->body.len)
		return keep(req, res, ARTIFACT_SCHEMAS, err);
	if (artifact_link_schemas(req->store, grant.plan.text, text_or_empty(digest), err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int jobs_started(struct request *req, struct response *res, struct err *err)
{
	struct job_grant grant;

	if (granted(req, &grant, err) < 0 || job_start(req->store, &grant, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int jobs_log(struct request *req, struct response *res, struct err *err)
{
	struct job_grant grant;
	long long offset, length = 0;
	const char *operation;

	if (text_number(query(req, "offset"), 0, INT64_MAX / 2, &offset) < 0)
		return err_set(err, ERR_INVALID, "'offset' must be a whole number");
	if (granted(req, &grant, err) < 0)
		return -1;
	operation = grant.stage == STAGE_APPLY ? grant.apply.text : grant.plan.text;
	if (log_append(req->store, operation, grant.log_base + offset, req->http->body.data, req->http->body.len,
		    &length, err) == 0)
		return respond_empty(res, 204);
	if (err->kind != ERR_CONFLICT)
		return -1;
	return respond_json(res, 409, json_pack("{sI}", "length", (json_int_t)(length - grant.log_base)));
}

int jobs_put_state(struct request *req, struct response *res, struct err *err)
{
	struct job_grant grant;
	struct state_offer offer;

	if (granted(req, &grant, err) < 0)
		return -1;
	offer = (struct state_offer){
		.workspace_id = grant.workspace.text,
		.run_id = grant.run.text,
		.job_id = grant.job.text,
		.intermediate = true,
		.bytes = req->http->body.data,
		.len = req->http->body.len,
	};
	if (state_accept(req->store, &offer, NULL, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int jobs_result(struct request *req, struct response *res, struct err *err)
{
	struct job_result result;
	struct happening item;
	struct job_grant grant;

	if (job_result_decode(buf_str(&req->http->body), req->http->body.len, &result, err) < 0)
		return -1;
	/* The second time the job is gone, and that is as good: it was taken in. */
	if (granted(req, &grant, err) < 0)
		return err->kind == ERR_NOT_FOUND ? respond_empty(res, 204) : -1;
	if (!text_equal(result.job.text, grant.job.text) || !text_equal(result.run.text, grant.run.text))
		return err_set(err, ERR_INVALID, "the result is of another job");
	item = result_happening(&result);
	if (runs_happen(req->store, &item, 1, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
