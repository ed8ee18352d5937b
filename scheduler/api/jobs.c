/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "common/log.h"
#include "scheduler/dispatch/claim.h"
#include "scheduler/dispatch/holds.h"
#include "scheduler/dispatch/reports.h"
#include "scheduler/store/artifacts.h"
#include "scheduler/store/cost_estimates.h"
#include "scheduler/store/policy_runs.h"
#include "scheduler/store/uploads.h"

/* What a worker asks with a job's own token (proto/README.md): it dies with the attempt (DESIGN rules 4 and 5). */

enum { CONTENT_LIMIT = 1 << 30 };

static int granted(const struct request *req, struct job_grant *ret_grant, struct err *err)
{
	return job_granted(req->store, param(req, "job"), req->bearer, ret_grant, err);
}

/* 204: there is none. */
static int send(struct request *req, struct response *res, enum artifact artifact, struct err *err)
{
	struct buf content = BUF_INIT(CONTENT_LIMIT);
	bool there;

	if (artifact_of_job(req->store, param(req, "job"), req->bearer, artifact, &content, &there, err) < 0) {
		buf_release(&content);
		return -1;
	}
	return there ? respond_bytes(res, "application/octet-stream", &content) : respond_empty(res, 204);
}

int jobs_configuration(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, ARTIFACT_CONFIGURATION, err);
}

int jobs_state(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, ARTIFACT_STATE, err);
}

int jobs_init(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, ARTIFACT_INIT, err);
}

int jobs_plan(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, ARTIFACT_PLAN, err);
}

int jobs_plan_json(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, ARTIFACT_PLAN_JSON, err);
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

/* ---- what is kept together with others (api/together.h) ---- */

static const struct {
	const char *name; /* the path's end */
	enum upload_kind kind;
} kinds[] = {
	{"log", UPLOAD_LOG},
	{"started", UPLOAD_STARTED},
	{"plan", UPLOAD_PLAN},
	{"plan-json", UPLOAD_PLAN_JSON},
	{"init", UPLOAD_INIT},
	{"schemas", UPLOAD_SCHEMAS},
	{"state", UPLOAD_STATE},
};

static enum upload_kind kind_of(const struct request *req)
{
	const char *name = strrchr(req->route->pattern, '/') + 1;
	size_t i = 0;

	while (!text_equal(kinds[i].name, name))
		i++;
	if (req->http->body.len)
		return kinds[i].kind;
	/* The schemas of the same providers are megabytes, and the same for thousands of runs: content that is here
	 * already is only named. */
	if (kinds[i].kind == UPLOAD_SCHEMAS)
		return UPLOAD_SCHEMAS_NAMED;
	return kinds[i].kind == UPLOAD_PLAN_JSON ? UPLOAD_PLAN_JSON_ASKED : kinds[i].kind;
}

/* A text that holds the same has its quotes escaped. */
static bool holds_configuration(const struct buf *plan)
{
	static const char member[] = "\"generated_config\":";

	return plan->len && memmem(plan->data, plan->len, member, sizeof(member) - 1);
}

int jobs_upload(struct request *req, struct response *res, struct err *err)
{
	const char *token = text_or_empty(req->bearer);
	struct upload *upload = req->upload;

	(void)res;
	*upload = (struct upload){.kind = kind_of(req),
		.job = param(req, "job"),
		.bytes = buf_str(&req->http->body),
		.len = req->http->body.len,
		.digest = text_or_empty(query(req, "digest"))};
	if (upload->kind == UPLOAD_PLAN_JSON || upload->kind == UPLOAD_SCHEMAS || upload->kind == UPLOAD_SCHEMAS_NAMED)
		upload->plan = query(req, "plan");
	crypto_sha256_hex(token, strlen(token), upload->token_hash);
	upload->generated = upload->kind == UPLOAD_PLAN_JSON && holds_configuration(&req->http->body);
	if (upload->kind == UPLOAD_LOG && text_number(query(req, "offset"), 0, INT64_MAX / 2, &upload->offset) < 0)
		return err_set(err, ERR_INVALID, "'offset' must be a whole number");
	return 0;
}

static int state_respond(struct response *res, const struct state_offer *state)
{
	if (!state->beside)
		return respond_empty(res, 204);
	log_warn(
		"a state was kept beside", "run", state->run.text, "state", state->id.text, "why", state->beside, NULL);
	return respond_json(res, 202, json_pack("{ss ss}", "kept-beside", state->id.text, "why", state->beside));
}

int upload_respond(struct response *res, const struct upload *upload, struct err *err)
{
	if (upload->err.kind == ERR_NONE && upload->kind == UPLOAD_STATE)
		return state_respond(res, &upload->state);
	if (upload->err.kind == ERR_NONE)
		return respond_empty(res, 204);
	if (upload->err.kind == ERR_CONFLICT && upload->kind == UPLOAD_LOG)
		return respond_json(res, 409, json_pack("{sI}", "length", (json_int_t)upload->length));
	*err = upload->err;
	return -1;
}

/* ---- the rest ---- */

int jobs_last_state(struct request *req, struct response *res, struct err *err)
{
	if (apply_settled(req->store, param(req, "job"), req->bearer, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

/* It is taken in with others (dispatch/reports.h). */
int jobs_result(struct request *req, struct response *res, struct err *err)
{
	const char *token = text_or_empty(req->bearer);
	struct report *report = req->report;

	(void)res;
	if (job_result_decode(buf_str(&req->http->body), req->http->body.len, &report->result, err) < 0)
		return -1;
	crypto_sha256_hex(token, strlen(token), report->token_hash);
	report->job = param(req, "job");
	return 0;
}

int report_respond(struct response *res, const struct report *report, struct err *err)
{
	*err = report->err;
	return err->kind == ERR_NONE ? respond_empty(res, 204) : -1;
}
