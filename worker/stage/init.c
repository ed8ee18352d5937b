/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/stages.h"

/*
 * The steps `get` and `init`. They run in the job's sandbox, and both can run code of the configuration: go-getter
 * runs git, a backend runs its credential_process, OpenTofu runs the external program of a key_provider. So the worker
 * does not trust their results:
 *
 *  - The configuration can't bring a .terraform of its own (exec/workdir).
 *  - `get` fetches the modules with the job's environment and the workspace's SSH key. The worker then removes
 *    everything in .terraform except the modules.
 *  - `init` installs providers, without modules, with the tokens of registries and no other variable of the job.
 */

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "worker/engine/arguments.h"
#include "worker/engine/backend.h"
#include "worker/engine/inits.h"
#include "worker/exec/access.h"
#include "worker/packages/archive.h"
#include "worker/packages/installer.h"
#include "worker/packages/lockfile.h"
#include "worker/packages/pinned.h"
#include "worker/runtime/command.h"

/* ---- modules ---- */

static int open_folder(const struct job *job)
{
	return beneath_open(job->dir.root, job->folder, O_RDONLY | O_DIRECTORY, 0);
}

/* Removes everything in .terraform except modules. */
static void forget_all_but_modules(const struct job *job)
{
	static const char *const names[] = {"providers", "plugins", "plugin_path", "terraform.tfstate", "environment"};
	_cleanup_(closep) int folder = open_folder(job);
	_cleanup_(closep) int data = folder < 0 ? -1 : beneath_open(folder, ".terraform", O_RDONLY | O_DIRECTORY, 0);

	if (data < 0 && folder >= 0)
		beneath_remove(folder, ".terraform"); /* no folder; it may be a link */
	for (size_t i = 0; data >= 0 && i < ARRAY_LEN(names); i++)
		beneath_remove(data, names[i]);
}

/* Writes the key as ssh requires it: with a line end, and readable only by its owner. */
static int ssh_key_write(const struct job *job, struct err *err)
{
	const char *key = job->assignment.ssh_key;
	_cleanup_(freep) char *text = mem_printf("%s\n", key);

	if (!*key)
		return 0;
	if (beneath_mkdirs(job->dir.root, "home/.ssh") < 0)
		return err_errno(err, "home/.ssh");
	return beneath_write(job->dir.root, WORKDIR_SSH_KEY, 0600, text_bytes(text), err);
}

static void get_done(struct job *job, int code, const char *errors)
{
	if (*job->assignment.ssh_key)
		beneath_remove(job->dir.root, WORKDIR_SSH_KEY);
	if (code != 0)
		command_failed(job, "Fetching the modules", code, errors);
	forget_all_but_modules(job);
}

void step_get(struct job *job)
{
	struct command command = {.name = "get",
		.env = ENV_JOB,
		.with_ssh_key = true,
		.with_credentials = true,
		.output = OUTPUT_QUIET,
		.done = get_done};
	struct err err = ERR_INIT;

	if (!job->init_wanted || !job->has_modules)
		return;
	if (ssh_key_write(job, &err) < 0) {
		job_fail(job, OUTCOME_ERRORED, "The SSH key can't be written: %s", err.message);
		return;
	}
	arguments_get(&job->assignment, &command.args);
	command_run(job, &command);
}

/* ---- providers and backend ---- */

static void init_done(struct job *job, int code, const char *errors)
{
	if (code != 0)
		command_failed(job, "terraform init", code, errors);
}

void step_init(struct job *job)
{
	struct command command = {.name = "init", .env = ENV_TOKENS, .output = OUTPUT_QUIET, .done = init_done};

	if (!job->init_wanted)
		return;
	arguments_init(&job->assignment, &command.args);
	command_run(job, &command);
}

/* ---- the backend check ---- */

struct checking {
	struct job *job;
	struct err err;
};

/* The record of a plan by an earlier worker has no workspace_dir. */
static bool record_is_old(const struct job *job)
{
	return job->old_plan && !job->init_wanted;
}

static void check_backend(void *data)
{
	struct checking *checking = data;
	_cleanup_(closep) int folder = open_folder(checking->job);
	_cleanup_(buf_release) struct buf state = BUF_INIT(65536), workspaces = BUF_INIT(65536);
	const struct assignment *assignment = &checking->job->assignment;
	struct backend_paths paths;

	if (folder < 0 || workdir_seen(assignment, WORKDIR_STATE, &state) < 0 ||
		workdir_seen(assignment, WORKDIR_WORKSPACES, &workspaces) < 0) {
		err_set(&checking->err, ERR_INVALID, "The working directory can't be read");
		return;
	}
	paths = (struct backend_paths){
		.state = buf_str(&state), .workspaces = record_is_old(checking->job) ? NULL : buf_str(&workspaces)};
	backend_check(folder, &paths, &checking->err);
}

/* Sets the outcome directly for an apply that succeeded, because its outcome is already decided. */
static void backend_checked(void *data)
{
	struct checking *checking = data;
	struct job_result *result = &checking->job->result;

	if (checking->err.kind != ERR_NONE && checking->job->applied) {
		result->outcome = OUTCOME_ERRORED;
		job_error_set(checking->job, checking->err.message);
	} else if (checking->err.kind != ERR_NONE) {
		job_fail(checking->job, OUTCOME_ERRORED, "%s", checking->err.message);
	}
	free(checking);
}

void step_check_backend(struct job *job)
{
	struct checking *checking = mem_new(1, sizeof(*checking));

	checking->job = job;
	job_work(job, check_backend, backend_checked, checking);
}

/* ---- keeping the result ---- */

static const char bundle_name[] = "bundle.tar.gz";

struct keeping {
	struct job *job;
	int bundle; /* the file */
	struct package_list unverified;
	struct init_made made;
	char digest[SHA256_HEX_SIZE];
	struct err err;
};

/* Keeps the result for later plans whose init would give the same result. */
static void keep_for_later(struct keeping *keeping)
{
	struct job *job = keeping->job;
	struct stat info;

	if (fstat(keeping->bundle, &info) < 0 || crypto_sha256_file(keeping->bundle, keeping->digest) < 0)
		return;
	keeping->made = (struct init_made){.key = job->init_key,
		.digest = keeping->digest,
		.size = info.st_size,
		.life = init_life(job->dir.root, job->folder, job->locked)};
}

struct package_view job_packages(const struct job *job)
{
	const struct job_host *host = job->host;
	const char *path = org_user_path(job->packages);

	return (struct package_view){.verified = host->providers,
		.verified_seen = sandbox_store(host->sandbox),
		.own = host->org_packages,
		.user = job->packages,
		.own_seen = sandbox_packages(host->sandbox, path),
		.mirror = host->provider_mirror};
}

static void keep(void *data)
{
	static const char *const names[] = {LOCKFILE_NAME, ".terraform", NULL};
	struct keeping *keeping = data;
	struct job *job = keeping->job;
	const struct package_view view = job_packages(job);
	_cleanup_(closep) int folder = open_folder(job);

	if (folder < 0) {
		err_errno(&keeping->err, job->folder);
		return;
	}
	providers_keep(&view, folder, &keeping->unverified);
	if (backend_record_park(folder, &keeping->err) < 0)
		return;
	keeping->bundle = beneath_open(job->dir.top, bundle_name, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (keeping->bundle < 0)
		err_errno(&keeping->err, bundle_name);
	else if (archive_pack(keeping->bundle, folder, names, &bundle_bounds, &keeping->err) == 0)
		keep_for_later(keeping);
	if (!backend_record_unpark(folder) && keeping->err.kind == ERR_NONE)
		err_set(&keeping->err, ERR_INTERNAL, "the record of the backend can't be written");
}

void job_upload_init(struct job *job, int bundle)
{
	job_upload(job,
		&(struct transfer_spec){.path = "init",
			.what = "init",
			.content_type = "application/gzip",
			.body_fd = bundle,
			.batched = IN_PARCEL_LATER});
}

char *job_mirror(const struct job *job)
{
	char *mirror = *job->host->provider_mirror ? NULL : access_mirror(&job->assignment);

	return mirror ? mirror : mem_text(job->host->provider_mirror);
}

/* The shared store never gets a private provider: the installer has no token, and other organizations must not have it.
 */
static void verify(const struct keeping *keeping)
{
	const struct job *job = keeping->job;
	_cleanup_(freep) char *mirror = job_mirror(job);
	_cleanup_(freep) char *host = access_host(&job->assignment);
	_cleanup_(freep) char *private = host ? mem_printf("%s/", host) : NULL;

	for (size_t i = 0; i < keeping->unverified.count; i++) {
		const struct package *package = &keeping->unverified.items[i];

		if (private && text_starts(package->address, private))
			continue;
		installer_request(job->host->installer,
			&(struct install_request){.engine = job->engine,
				.mirror = mirror,
				.organization = job->assignment.organization_id,
				.address = package->address,
				.version = package->version});
	}
}

static void kept(void *data)
{
	struct keeping *keeping = data;
	struct job *job = keeping->job;

	verify(keeping);
	package_list_release(&keeping->unverified);
	if (job->init_key[0] && keeping->made.key)
		inits_keep(job->host->inits, &keeping->made, job->dir.top, bundle_name, clock_mono_ms());
	if (keeping->err.kind != ERR_NONE)
		job_fail(job, OUTCOME_ERRORED, "What init made can't be kept: %s", keeping->err.message);
	if (keeping->err.kind != ERR_NONE || job->assignment.stage == STAGE_APPLY)
		closep(&keeping->bundle);
	else
		job_upload_init(job, keeping->bundle);
	free(keeping);
}

void step_keep_init(struct job *job)
{
	struct keeping *keeping;

	if (!job->init_wanted)
		return;
	keeping = mem_new(1, sizeof(*keeping));
	*keeping = (struct keeping){.job = job, .bundle = -1};
	job_work(job, keep, kept, keeping);
}
