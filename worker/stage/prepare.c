/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "worker/command.h"
#include "worker/exec/archive.h"
#include "worker/exec/packages.h"
#include "worker/metrics.h"

enum { CLI_CONFIG_LIMIT = 256 * 1024 };

static const struct archive_bounds bundle_bounds = {.files = 500 * 1000, .bytes = 4UL * 1024 * 1024 * 1024};

/* ---- fetching ---- */

/* One download into a file. */
struct download {
	struct job *job;
	const char *what;
	bool needed; /* nothing there (204) is a failure */
};

static void download_ended(void *data, int status, const struct buf *body)
{
	struct download download = *(struct download *)data;
	char why[300];

	free(data);
	if (status != 200 && (status != 204 || download.needed)) {
		answer_sentence(status, body, why, sizeof(why));
		job_fail(download.job, OUTCOME_ERRORED, "The scheduler did not give the %s: %s", download.what, why);
	}
	job_release(download.job);
}

void job_download(struct job *job, const char *what, int fd, bool needed)
{
	const struct transfer_spec spec = {.method = "GET",
		.path = what,
		.what = what,
		.answer_fd = fd,
		.answer_limit = (size_t)4 * 1024 * 1024 * 1024};
	struct download *item;

	if (fd < 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't write a file for the %s", what);
		return;
	}
	item = mem_new(1, sizeof(*item));
	*item = (struct download){.job = job, .what = what, .needed = needed};
	job_hold(job);
	channel_send(&job->channel, &spec, download_ended, item);
}

static int new_file(int folder, const char *path)
{
	return beneath_open(folder, path, O_RDWR | O_CREAT | O_EXCL, 0600);
}

static void engine_found(void *data, const struct engine *engine, const struct err *err)
{
	struct job *job = data;

	if (!engine) {
		job_fail(job, OUTCOME_ERRORED, "%s", err->message);
	} else {
		job->engine = mem_text(engine->path);
		job->tofu = engine->tofu;
		text_copy(job->result.terraform_version, sizeof(job->result.terraform_version), engine->version.text);
	}
	job_release(job);
}

void step_fetch(struct job *job)
{
	const struct assignment *assignment = &job->assignment;
	bool apply = assignment->stage == STAGE_APPLY;

	job_hold(job);
	engines_find(job->host->engines, assignment->engine_version, engine_found, job);
	job->configuration = new_file(job->dir.top, "configuration.tar.gz");
	job_download(job, "configuration", job->configuration, true);
	if (assignment->has_state)
		job_download(job, "state", job->state_file = new_file(job->dir.root, WORKDIR_STATE), false);
	if (apply)
		job_download(job, "plan", job->plan_file = new_file(job->dir.root, WORKDIR_PLAN), true);
	if (apply && assignment->has_init) {
		job->init_bundle = new_file(job->dir.top, "init.tar.gz");
		job_download(job, "init", job->init_bundle, false);
	}
}

/* ---- unpacking, in a thread ---- */

struct unpacking {
	struct job *job;
	int folder;
	bool links_fit; /* every provider link of the bundle could be made */
	struct err err;
};

/* Provider links name another worker's places. They are made anew, to what this worker has. */
static bool bundle_link(void *data, const char *path, const char *target)
{
	static const char prefix[] = ".terraform/providers/";
	struct unpacking *unpacking = data;
	const struct job_host *host = unpacking->job->host;

	(void)target;
	if (!text_starts(path, prefix))
		return false;
	if (!providers_link(host->providers, unpacking->folder, sandbox_store(host->sandbox), host->provider_mirror,
		    path + strlen(prefix)))
		unpacking->links_fit = false;
	return true;
}

static bool bundle_has_content(int fd)
{
	return fd >= 0 && lseek(fd, 0, SEEK_END) > 0;
}

/* What the plan's init made, if all of it can be used here. */
static void unpack_bundle(struct unpacking *unpacking)
{
	const struct archive_spec spec = {
		.bounds = bundle_bounds, .link = bundle_link, .data = unpacking, .drop_bad_links = true};
	struct job *job = unpacking->job;

	if (!bundle_has_content(job->init_bundle))
		return;
	unpacking->links_fit = true;
	if (archive_unpack(job->init_bundle, unpacking->folder, &spec, &unpacking->err) < 0)
		err_context(&unpacking->err, "what the plan's init made can't be unpacked");
}

static int write_cli_config(struct job *job, int folder, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(CLI_CONFIG_LIMIT);
	const char *seen = sandbox_store(job->host->sandbox);
	char **skip = NULL;
	int status = providers_fit_lockfile(job->host->providers, folder, &skip, err);

	if (status == 0 && providers_cli_config(seen, job->host->provider_mirror, skip, &text) < 0)
		status = err_set(err, ERR_TOO_LARGE, "the lock file names too many providers");
	providers_skip_free(skip);
	if (status == 0)
		status = beneath_write(job->dir.top, "cli.tfrc", 0644, text.data, text.len, err);
	return status;
}

static void unpack(void *data)
{
	struct unpacking *unpacking = data;
	struct job *job = unpacking->job;

	if (workdir_fill(&job->dir, &job->assignment, job->configuration, &unpacking->err) < 0)
		return;
	unpacking->folder = beneath_open(job->dir.root, job->folder, O_RDONLY | O_DIRECTORY, 0);
	if (unpacking->folder < 0) {
		err_errno(&unpacking->err, job->folder);
		return;
	}
	if (job->assignment.stage == STAGE_APPLY)
		unpack_bundle(unpacking);
	if (unpacking->err.kind == ERR_NONE)
		write_cli_config(job, unpacking->folder, &unpacking->err);
	close(unpacking->folder);
}

static void unpacked(void *data)
{
	struct unpacking *unpacking = data;
	struct job *job = unpacking->job;

	if (unpacking->err.kind != ERR_NONE)
		job_fail(job, OUTCOME_ERRORED, "%s", unpacking->err.message);
	job->init_wanted = !unpacking->links_fit;
	if (!job->init_wanted)
		metric_add(M_INITS_REUSED, "", 1);
	free(unpacking);
}

/* An engine would take an empty file for a broken state. */
static void drop_empty_state(const struct job *job)
{
	struct stat info;

	if (job->state_file >= 0 && fstat(job->state_file, &info) == 0 && info.st_size == 0)
		beneath_remove(job->dir.root, WORKDIR_STATE);
}

void step_unpack(struct job *job)
{
	struct unpacking *unpacking = mem_new(1, sizeof(*unpacking));

	drop_empty_state(job);
	closep(&job->state_file);
	closep(&job->plan_file);
	job->state_file = job->plan_file = -1;
	unpacking->job = job;
	job_work(job, unpack, unpacked, unpacking);
}
