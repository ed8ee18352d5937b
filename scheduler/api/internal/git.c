/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/internal/claim_wait.h"
#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/runs/vcs/git_results.h"
#include "scheduler/store/registry/module_inspections.h"
#include "scheduler/store/workers/workers.h"

/* The requests of workers that work with git (proto/README.md, "Work with git"). */

enum { MAX_BEATS = 1024, MAX_KINDS = 16, MAX_MODULE = 512 << 20 };

static int respond_jobs(struct request *req, struct response *res, json_t *jobs)
{
	return respond_json(
		res, 200, json_pack("{si so}", "lease-seconds", req->store->settings->lease_seconds, "jobs", jobs));
}

/* The thread that ends the wait has no time for the claim: the worker asks again at once. */
static int git_claim_wait(
	struct request *req, struct response *res, const struct git_claim *claim, uint64_t mark, struct err *err)
{
	static const char asks_again[] = "{\"jobs\":[]}";
	char pool[ID_SIZE], worker[ID_SIZE];

	git_wait_key(claim->pool_id, pool);
	git_wait_key(claim->worker_id, worker);
	return claim_wait(req, res,
		&(struct claim_wait){
			.pool_id = pool, .worker_id = worker, .mark = mark, .some = asks_again, .none = asks_again},
		err);
}

/* Workers of an earlier version name no kinds. */
static int kinds_read(const struct request *req, struct git_claim *claim, struct err *err)
{
	static const char *const earlier[] = {"fetch", "diff", "look"};
	const json_t *kinds = json_object_get(req->body, "kinds"), *kind;
	size_t i;

	if (kinds && (!json_is_array(kinds) || json_array_size(kinds) > MAX_KINDS))
		return err_set(err, ERR_INVALID, "'kinds' must be an array of at most %d texts", MAX_KINDS);
	for (i = 0; !kinds && i < ARRAY_LEN(earlier); i++)
		db_array_add(claim->kinds, earlier[i]);
	json_array_foreach(kinds, i, kind)
	{
		db_array_add(claim->kinds, text_or_empty(json_string_value(kind)));
		claim->directories |= text_equal(json_string_value(kind), "directory");
	}
	return 0;
}

int git_claims(struct request *req, struct response *res, struct err *err)
{
	_cleanup_(db_array_release) struct db_array kinds = DB_ARRAY_INIT;
	struct git_claim claim = {.pool_id = req->actor.pool.text,
		.kinds = &kinds,
		.worker_id = json_string_at(req->body, "worker"),
		.slots = (int)json_int_at(req->body, "slots", 0)};
	uint64_t mark = claim_waiters_mark(req->services->waiters);
	json_t *jobs = NULL;

	if (!claim.worker_id || strlen(claim.worker_id) >= ID_SIZE)
		return err_set(err, ERR_INVALID, "'worker' is missing");
	if (claim.slots < 1 || claim.slots > GIT_JOBS_CLAIMED)
		return err_set(err, ERR_INVALID, "'slots' must be a whole number from 1 to %d", GIT_JOBS_CLAIMED);
	if (kinds_read(req, &claim, err) < 0 || git_claim_jobs(req->store, &claim, &jobs, err) < 0)
		return -1;
	if (json_array_size(jobs))
		return respond_jobs(req, res, jobs);
	json_decref(jobs);
	return git_claim_wait(req, res, &claim, mark, err);
}

int git_beats(struct request *req, struct response *res, struct err *err)
{
	const json_t *beats = json_object_get(req->body, "jobs");
	struct id worker;
	json_t *jobs = NULL;

	if (worker_find(req->store, req->bearer, &worker, err) < 0)
		return -1;
	if (!json_is_array(beats) || json_array_size(beats) > MAX_BEATS)
		return err_set(err, ERR_INVALID, "'jobs' must be an array of at most %d attempts", MAX_BEATS);
	if (git_jobs_beat(req->store, worker.text, beats, &jobs, err) < 0)
		return -1;
	return respond_jobs(req, res, jobs);
}

static bool is_sha256(const char *text)
{
	return text && strlen(text) == SHA256_HEX_SIZE - 1 && strspn(text, "0123456789abcdef") == SHA256_HEX_SIZE - 1;
}

int git_archive(struct request *req, struct response *res, struct err *err)
{
	struct git_archive archive = {
		.bytes = buf_str(&req->http->body), .len = req->http->body.len, .hash = query(req, "hash")};

	/* A stranger learns nothing of the request's rules. */
	if (!git_job_token_valid(req->store, param(req, "git_job"), req->bearer))
		return err_set(err, ERR_NOT_FOUND, "this attempt is over, or the token is not its own");
	if (!is_sha256(archive.hash) || !archive.len ||
		text_number(text_or_empty(query(req, "size")), 0, INT64_MAX / 2, &archive.size) < 0)
		return err_set(err, ERR_INVALID, "'hash' and 'size' must be those of the archive's tar");
	if (git_job_archive(req->store, param(req, "git_job"), req->bearer, &archive, err) < 0)
		return -1;
	return respond_empty(res, 204);
}

int git_module(struct request *req, struct response *res, struct err *err)
{
	struct buf content = BUF_INIT(MAX_MODULE);
	struct git_job job;

	if (git_job_held(req->store, param(req, "git_job"), req->bearer, &job, err) < 0)
		return -1;
	if (job.kind != GIT_MODULE)
		return err_set(err, ERR_INVALID, "the job inspects no module");
	if (module_inspection_content(req->store, job.version.text, &content, err) < 0) {
		buf_release(&content);
		return -1;
	}
	return respond_bytes(res, "application/gzip", &content);
}

int git_result(struct request *req, struct response *res, struct err *err)
{
	if (!req->body && git_job_token_valid(req->store, param(req, "git_job"), req->bearer))
		return err_set(err, ERR_INVALID, "the body must be a result");
	if (git_result_apply(req->store, param(req, "git_job"), req->bearer, req->body, err) < 0)
		return -1;
	return respond_empty(res, 204);
}
