/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/schemas.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "worker/engine/arguments.h"
#include "worker/engine/schema_cache.h"
#include "worker/runtime/command.h"
#include "worker/stage/stages.h"

enum { SCAN_LIMIT = 512 * 1024 * 1024 };

/* A request to the scheduler about a digest. */
struct asking {
	struct job *job;
	struct kept_schemas kept;
};

/* ---- the key ---- */

void step_schemas_key(struct job *job)
{
	_cleanup_(closep) int folder = beneath_open(job->dir.root, job->folder, O_RDONLY | O_DIRECTORY, 0);
	_cleanup_(freep) char *engine =
		mem_printf("%s %s", job->tofu ? "tofu" : "terraform", job->result.terraform_version);

	schema_cache_key(job->assignment.organization_id, engine, folder, job->schemas_key);
}

static bool uses_builtin(const struct job *job)
{
	struct stat info;
	void *text;
	bool found;

	if (job->plan_json < 0 || fstat(job->plan_json, &info) < 0 || info.st_size == 0 || info.st_size > SCAN_LIMIT)
		return false;
	text = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, job->plan_json, 0);
	if (text == MAP_FAILED)
		return false;
	found = schemas_have_builtin(text, (size_t)info.st_size);
	munmap(text, (size_t)info.st_size);
	return found;
}

static bool find_kept(const struct job *job, struct kept_schemas *ret_kept)
{
	return schema_cache_find(job->host->schemas, job->schemas_key, ret_kept);
}

/* ---- sending ---- */

static void digest_answered(void *data, int status, const struct buf *body)
{
	struct asking *asking = data;
	struct job *job = asking->job;
	_cleanup_(freep) char *path = mem_printf("schemas?digest=%s", asking->kept.digest);
	int file = -1;

	(void)body;
	if (status == 404 && (job->optional || !job_done(job)))
		file = schema_cache_file(job->host->schemas, job->schemas_key);
	if (file >= 0)
		job_upload_plan(job, path, "schemas", file);
	free(asking);
	job_upload_ended(job);
}

static void send_digest(struct job *job, const struct kept_schemas *kept)
{
	_cleanup_(freep) char *query = mem_printf("schemas?digest=%s", kept->digest);
	_cleanup_(freep) char *path = plan_path(job, query);
	const struct transfer_spec spec = {.method = "PUT",
		.path = path,
		.what = "schemas",
		.content_type = "application/json",
		.expects_refusal = true,
		.batched = IN_PARCEL_LATER};
	struct asking *asking = mem_new(1, sizeof(*asking));

	*asking = (struct asking){.job = job, .kept = *kept};
	job->uploads++;
	channel_send(&job->channel, &spec, digest_answered, asking);
}

/* ---- the step ---- */

static bool wrote_all(const struct job *job)
{
	_cleanup_(closep) int out = beneath_open(job->dir.top, "schemas.json", O_RDONLY, 0);

	return out >= 0 && command_wrote_all(out);
}

static void schemas_done(struct job *job, int code, const char *errors)
{
	struct kept_schemas kept;
	struct err err = ERR_INIT;

	if (code != 0) {
		command_failed(job, "terraform providers schema", code, errors);
		return;
	}
	if (!wrote_all(job)) {
		log_warn("provider schemas were not written to the end: is the worker's disk full?", "run",
			job->result.run.text, NULL);
		return;
	}
	if (schema_cache_keep(job->host->schemas, job->schemas_key, job->dir.top, "schemas.json", &kept, &err) < 0)
		log_warn("provider schemas can't be kept", "run", job->result.run.text, "why", err.message, NULL);
	else if (plan_is_shown(job))
		send_digest(job, &kept);
}

void schemas_send_known(struct job *job)
{
	struct kept_schemas kept;

	if (find_kept(job, &kept))
		send_digest(job, &kept);
}

void step_schemas(struct job *job)
{
	struct command command = {
		.name = "schemas", .env = ENV_TOKENS, .output = OUTPUT_FILE, .out = -1, .done = schemas_done};
	struct kept_schemas kept;
	_cleanup_(closep) int out = -1;

	if (!plan_is_shown(job) || (find_kept(job, &kept) && (kept.builtin || !uses_builtin(job))))
		return;
	out = beneath_open(job->dir.top, "schemas.json", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (out < 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't write a file for the provider schemas");
		return;
	}
	command.out = out;
	arguments_schemas(&command.args);
	command_run(job, &command);
}
