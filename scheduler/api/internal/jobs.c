/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/api.h"
#include "scheduler/runs/job_grants.h"
#include "scheduler/runs/holds.h"
#include "scheduler/store/policies/policy_runs.h"
#include "scheduler/store/runs/artifacts.h"
#include "scheduler/store/runs/cost_estimates.h"
#include "scheduler/store/runs/unrecorded.h"

/* The requests of a worker with a job's own token (proto/README.md), which ends with the attempt. */

enum { CONTENT_LIMIT = 1 << 30 };

static int granted(const struct request *req, struct job_grant *ret_grant, struct err *err)
{
	return job_granted(req->store, param(req, "job"), req->bearer, ret_grant, err);
}

/* Answers 204 if the artifact does not exist. */
static int send(struct request *req, struct response *res, enum artifact artifact, struct err *err)
{
	const struct artifact_request request = {param(req, "job"), req->bearer, artifact};
	struct buf content = BUF_INIT(CONTENT_LIMIT);
	bool there;

	if (artifact_of_job(req->store, &request, &content, &there, err) < 0) {
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

int jobs_schemas(struct request *req, struct response *res, struct err *err)
{
	return send(req, res, ARTIFACT_SCHEMAS, err);
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

int jobs_put_unrecorded(struct request *req, struct response *res, struct err *err)
{
	struct job_grant grant;

	if (state_granted(req->store, param(req, "job"), req->bearer, &grant, err) < 0)
		return -1;
	if (grant.stage != STAGE_APPLY)
		return err_set(err, ERR_INVALID, "the job is no apply");
	if (!json_is_array(json_object_get(req->body, "resources")))
		return err_set(err, ERR_INVALID, "'resources' must be an array");
	if (unrecorded_put(req->store, &(struct unrecorded_job){grant.job.text, grant.run.text, grant.workspace.text},
		    json_object_get(req->body, "resources"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int jobs_last_state(struct request *req, struct response *res, struct err *err)
{
	if (apply_settled(req->store, param(req, "job"), req->bearer, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
