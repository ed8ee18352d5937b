/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/err.h"
#include "common/log.h"
#include "proto/capabilities.h"
#include "worker/engine/apply_variables.h"
#include "worker/engine/backend.h"
#include "worker/engine/provider_sets.h"
#include "worker/exec/access.h"
#include "worker/git/pointers.h"
#include "worker/metrics.h"
#include "worker/packages/archive.h"
#include "worker/packages/lockfile.h"
#include "worker/packages/modules.h"
#include "worker/runtime/command.h"
#include "worker/upload/reserve.h"

enum { CLI_CONFIG_LIMIT = 256 * 1024, LOCKFILE_LIMIT = 1024 * 1024, CLAIM_LIMIT = 64 * 1024 * 1024 };

/* ---- fetching ---- */

/* One download into a file. */
struct download {
	struct job *job;
	const char *what;
	enum download_need need;
};

static bool is_missing(const struct download *download, int status)
{
	return status == 204 || (status == 404 && download->need == DOWNLOAD_RECENT);
}

static void download_ended(void *data, int status, const struct buf *body)
{
	struct download download = *(struct download *)data;
	char why[300];

	free(data);
	if (status == 0 && body->len > 0) {
		job_fail(
			download.job, OUTCOME_ERRORED, "The worker can't get the %s: %s", download.what, buf_str(body));
	} else if (is_missing(&download, status) && download.need == DOWNLOAD_NEEDED) {
		job_fail(download.job, OUTCOME_ERRORED, "The scheduler has no %s for the job, though it should.",
			download.what);
	} else if (status != 200 && !is_missing(&download, status)) {
		answer_sentence(status, body, why, sizeof(why));
		job_fail(download.job, OUTCOME_ERRORED, "The scheduler did not give the %s: %s", download.what, why);
	}
	job_release(download.job);
}

/* Writes the file from the claim, if the claim brought it. */
static bool came_along(struct job *job, const char *what, int fd)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(CLAIM_LIMIT);

	return assignment_take(&job->assignment, what, &bytes) == 0 &&
		pwrite(fd, buf_str(&bytes), bytes.len, 0) == (ssize_t)bytes.len;
}

void job_download(struct job *job, const char *what, int fd, enum download_need need)
{
	const struct transfer_spec spec = {.method = "GET",
		.path = what,
		.what = what,
		.answer_fd = fd,
		.answer_limit = (size_t)4 * 1024 * 1024 * 1024,
		.expects_refusal = need == DOWNLOAD_RECENT};
	struct download *item;

	if (fd < 0) {
		job_fail(job, OUTCOME_ERRORED, "The worker can't make a file for the %s: %s", what, strerror(errno));
		return;
	}
	if (came_along(job, what, fd))
		return;
	item = mem_new(1, sizeof(*item));
	*item = (struct download){.job = job, .what = what, .need = need};
	job_hold(job);
	channel_send(&job->channel, &spec, download_ended, item);
}

static int new_file(int folder, const char *path)
{
	return beneath_open(folder, path, O_RDWR | O_CREAT | O_EXCL, 0600);
}

/* Gets an archive that only the worker reads: in memory if the claim brought it, else as a file of that name. */
static void archive_fetch(struct job *job, const char *what, const char *name, int *ret_fd, enum download_need need)
{
	*ret_fd = memfd_create(what, MFD_CLOEXEC);
	if (*ret_fd >= 0 && came_along(job, what, *ret_fd))
		return;
	closep(ret_fd);
	*ret_fd = new_file(job->dir.top, name);
	job_download(job, what, *ret_fd, need);
}

static void engine_found(void *data, const struct engine *engine, const struct err *err)
{
	struct job *job = data;

	if (!engine) {
		job_fail(job, OUTCOME_ERRORED, "%s", err->message);
	} else {
		job->engine = mem_text(engine->path);
		job->tofu = engine->program == engine_tofu;
		text_copy(job->result.terraform_version, sizeof(job->result.terraform_version), engine->version.text);
	}
	job_release(job);
}

void step_fetch(struct job *job)
{
	const struct assignment *assignment = &job->assignment;
	bool apply = assignment->stage == STAGE_APPLY;

	job_hold(job);
	engines_find(job->host->engines, assignment->engine_needs, engine_found, job);
	archive_fetch(job, "configuration", "configuration.tar.gz", &job->configuration, DOWNLOAD_NEEDED);
	if (assignment->has_state)
		job_download(job, "state", job->state_file = new_file(job->dir.root, WORKDIR_STATE), DOWNLOAD_NEEDED);
	if (apply)
		job_download(job, "plan", job->plan_file = new_file(job->dir.root, WORKDIR_PLAN), DOWNLOAD_NEEDED);
	if (apply && assignment->has_init)
		archive_fetch(job, "init", "init.tar.gz", &job->init_bundle, DOWNLOAD_OPTIONAL);
}

/* ---- unpacking, in a thread ---- */

struct unpacking {
	struct job *job;
	int folder;
	bool links_fit;    /* the init bundle is in place */
	bool old_plan;     /* ...and an earlier worker made it */
	json_t *ephemeral; /* of an apply: the variables that may be ephemeral; owned */
	struct err err;
};

static bool bundle_has_content(int fd)
{
	return fd >= 0 && lseek(fd, 0, SEEK_END) > 0;
}

/* Unpacks the result of the plan's init, if all of it can be used on this worker. */
static void unpack_bundle(struct unpacking *unpacking)
{
	const struct job *job = unpacking->job;

	if (!bundle_has_content(job->init_bundle))
		return;
	unpacking->links_fit = bundle_unpack(job, unpacking->folder, job->init_bundle, &unpacking->err);
	if (unpacking->err.kind != ERR_NONE)
		err_context(&unpacking->err, "what the plan's init made can't be unpacked");
	else
		unpacking->old_plan = !backend_record_unpark(unpacking->folder);
}

/* Links the organization's packages that the lock file names. NULL if there are none. */
static char *offer_own(const struct job *job, int folder)
{
	const struct package_view view = job_packages(job);

	if (providers_offer_own(&view, folder, job->dir.root, WORKDIR_PACKAGES) == 0)
		return NULL;
	return command_path(job, WORKDIR_PACKAGES);
}

static int write_cli_config(struct job *job, int folder, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(CLI_CONFIG_LIMIT);
	_cleanup_(freep) char *own = offer_own(job, folder);
	_cleanup_(texts_release) struct texts skip = {.items = NULL};
	_cleanup_(freep) char *mirror = job_mirror(job);
	_cleanup_(freep) char *direct = access_host(&job->assignment);
	const struct install_sources sources = {.store = sandbox_store(job->host->sandbox),
		.skip = &skip,
		.own = own,
		.mirror = mirror,
		.direct = direct};
	int status = providers_fit_lockfile(job->host->providers, folder, &skip, err);

	if (status == 0 && providers_cli_config(&sources, &text) < 0)
		status = err_set(err, ERR_TOO_LARGE, "the lock file names too many providers");
	if (status == 0 && access_cli_config(&job->assignment, &text) < 0)
		status = err_set(err, ERR_TOO_LARGE, "the CLI configuration is too large");
	if (status == 0)
		status = beneath_write(job->dir.top, "cli.tfrc", 0644, buf_bytes(&text), err);
	return status < 0 ? err_context(err, "the engine's CLI configuration can't be written") : 0;
}

/* Records the inputs of a plan's init, which are known now. */
static void remember(struct job *job, int folder, const char *configuration)
{
	_cleanup_(buf_release) struct buf locked = BUF_INIT(LOCKFILE_LIMIT);
	struct err err = ERR_INIT;

	if (beneath_read(folder, LOCKFILE_NAME, &locked, &err) == 0)
		job->locked = buf_take(&locked);
	if (job->locked || err.kind == ERR_NOT_FOUND)
		init_key_make(job, configuration);
}

static int fill(struct unpacking *unpacking, char ret_digest[SHA256_HEX_SIZE])
{
	const struct job *job = unpacking->job;
	struct sha256 *digest = crypto_sha256_begin();
	int status = workdir_fill(&job->dir, &job->assignment, job->configuration, digest, &unpacking->err);

	crypto_sha256_end(digest, ret_digest);
	return status;
}

/* Writes the values that the apply needs again (apply_variables.h). An engine may refuse other values of other
 * variables than the plan's. */
static void write_again(struct unpacking *unpacking)
{
	const struct job *job = unpacking->job;
	json_auto_t *names = NULL;
	struct version version;

	unpacking->ephemeral = json_object();
	if (version_parse(job->result.terraform_version, &version) < 0 || !engine_has_ephemeral(job->tofu, &version))
		return;
	json_decref(unpacking->ephemeral);
	unpacking->ephemeral = folder_find_ephemeral(unpacking->folder);
	names = json_copy(unpacking->ephemeral);
	if (job->tofu)
		folder_find_weaker(unpacking->folder, &job->assignment, names);
	workdir_write_again(&job->dir, &job->assignment, names, &unpacking->err);
}

static void make_reserve(struct unpacking *unpacking)
{
	const struct job *job = unpacking->job;

	if (reserve_name(&job->dir, job->folder, &unpacking->err) < 0)
		err_context(&unpacking->err, "the configuration can't be unpacked");
}

static void unpack(void *data)
{
	struct unpacking *unpacking = data;
	struct job *job = unpacking->job;
	char configuration[SHA256_HEX_SIZE];

	if (fill(unpacking, configuration) < 0)
		return;
	unpacking->folder = beneath_open(job->dir.root, job->folder, O_RDONLY | O_DIRECTORY, 0);
	if (unpacking->folder < 0) {
		err_errno(&unpacking->err, job->folder);
		return;
	}
	if (provider_sets_write(unpacking->folder, &job->assignment, &unpacking->err) < 0) {
		close(unpacking->folder);
		return;
	}
	job->has_modules = job->assignment.test || folder_calls_modules(unpacking->folder);
	if (job->assignment.stage == STAGE_PLAN && *job->assignment.commit_sha)
		pointers_refuse(job->dir.root, job->folder, &unpacking->err);
	if (job->assignment.stage == STAGE_APPLY)
		unpack_bundle(unpacking);
	if (job->assignment.stage == STAGE_APPLY && unpacking->err.kind == ERR_NONE)
		write_again(unpacking);
	if (unpacking->err.kind == ERR_NONE)
		write_cli_config(job, unpacking->folder, &unpacking->err);
	if (unpacking->err.kind == ERR_NONE)
		make_reserve(unpacking);
	if (job->assignment.stage == STAGE_PLAN)
		remember(job, unpacking->folder, configuration);
	close(unpacking->folder);
}

static void unpacked(void *data)
{
	struct unpacking *unpacking = data;
	struct job *job = unpacking->job;

	if (unpacking->err.kind != ERR_NONE)
		job_fail(job, OUTCOME_ERRORED, "%s", unpacking->err.message);
	closep(&job->configuration);
	closep(&job->init_bundle);
	job->init_wanted = !unpacking->links_fit;
	job->old_plan = unpacking->old_plan;
	job->ephemeral = unpacking->ephemeral;
	if (!job->init_wanted)
		metric_add(M_INITS_REUSED, "stage=\"apply\"", 1);
	free(unpacking);
}

/* False if the workspace has a state but none was received: a plan without it would create everything again. */
static bool state_has_come(const struct job *job)
{
	struct stat info;

	return !job->assignment.has_state ||
		(job->state_file >= 0 && fstat(job->state_file, &info) == 0 && info.st_size > 0);
}

void step_unpack(struct job *job)
{
	struct unpacking *unpacking;
	bool has_state = state_has_come(job);

	closep(&job->state_file);
	closep(&job->plan_file);
	if (!has_state) {
		job_fail(job, OUTCOME_ERRORED, "The scheduler gave an empty state, though the workspace has one.");
		return;
	}
	unpacking = mem_new(1, sizeof(*unpacking));
	unpacking->job = job;
	job_work(job, unpack, unpacked, unpacking);
}
