/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/limits.h"
#include "worker/stage/stages.h"

/*
 * Reuses the result of init, for the apply of the plan on any worker, and for a later plan on this worker whose init
 * would give the same result. The key of such plans is the digest of all inputs of init:
 *
 *  - the unpacked configuration with its lock file, and the working directory in it; the provider sets;
 *  - the engine's binary;
 *  - the organization's id, and the access to its registries: credentials, and with modules the job's whole
 *    environment, the workspace's SSH key, and the configurations of its dynamic credentials, whose tokens are the
 *    workspace's. So a run gets only what its own credentials could get.
 *
 * With a pre-plan hook, and for the tests of a module, no init is kept or reused.
 *
 * Init also installs the providers that the state names: they must be among the kept ones. exec/pinned decides how
 * long a result is valid. If a part is missing when the result is unpacked, init runs.
 */

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/engine/backend.h"
#include "worker/engine/inits.h"
#include "worker/metrics.h"
#include "worker/packages/archive.h"
#include "worker/packages/lockfile.h"

enum { LOCKFILE_LIMIT = 1024 * 1024 };

const struct archive_bounds bundle_bounds = {.files = 500 * 1000, .bytes = 4UL * 1024 * 1024 * 1024};

/* ---- unpacking the result ---- */

struct linking {
	struct package_view view;
	int folder;
	bool fit; /* every provider link of the bundle could be made */
};

/* Provider links name another worker's paths. The worker makes them again, to a package with a hash from the
 * bundle's lock file: a verified package, or one of the organization. */
static bool bundle_link(void *data, const char *path, const char *target)
{
	static const char prefix[] = ".terraform/providers/";
	struct linking *linking = data;

	(void)target;
	if (!text_starts(path, prefix))
		return false;
	if (!providers_link(&linking->view, linking->folder, path + strlen(prefix)))
		linking->fit = false;
	return true;
}

bool bundle_unpack(const struct job *job, int folder, int bundle, struct err *err)
{
	struct linking linking = {.view = job_packages(job), .folder = folder, .fit = true};
	const struct archive_spec spec = {
		.bounds = bundle_bounds, .link = bundle_link, .data = &linking, .drop_bad_links = true};

	if (archive_unpack(bundle, folder, &spec, err) < 0)
		return false;
	return linking.fit;
}

/* ---- the state's providers ---- */

/* True if the provider in "[module.a.]provider["host/namespace/type"][.alias]", with escaped quotes, is locked or
 * built in. */
static bool provider_is_locked(const struct lockfile *lockfile, const char *value, size_t len)
{
	static const char begin[] = "provider[\\\"", builtin[] = "terraform.io/builtin/";
	const char *at = memmem(value, len, begin, sizeof(begin) - 1), *end;
	_cleanup_(freep) char *address = NULL;

	if (!at)
		return !memmem(value, len, "provider.", 9); /* an older state's form, or no provider at all */
	at += sizeof(begin) - 1;
	end = memchr(at, '\\', len - (size_t)(at - value));
	address = mem_printf("%.*s", (int)(end ? end - at : 0), at);
	if (text_starts(address, builtin))
		return true;
	for (size_t i = 0; i < lockfile->count; i++)
		if (text_equal(lockfile->providers[i].address, address))
			return true;
	return false;
}

/* Checks all members named "provider", wherever they are. */
static bool providers_are_locked(const struct lockfile *lockfile, const char *text, size_t len)
{
	static const char member[] = "\"provider\"";
	const char *at = text, *end = text + len;

	while ((at = memmem(at, (size_t)(end - at), member, sizeof(member) - 1))) {
		const char *value;

		for (at += sizeof(member) - 1; at < end && strchr(" \t\r\n:", *at);)
			at++;
		if (at == end || *at != '"')
			continue;
		for (value = ++at; at < end && *at != '"'; at++)
			at += *at == '\\' && at + 1 < end;
		if (!provider_is_locked(lockfile, value, (size_t)(at - value)))
			return false;
	}
	return true;
}

static bool state_fits(const struct job *job, const struct lockfile *lockfile)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(MAX_STATE_BYTES);
	struct err err = ERR_INIT;

	if (beneath_read(job->dir.root, WORKDIR_STATE, &text, &err) < 0)
		return err.kind == ERR_NOT_FOUND;
	return text.len && providers_are_locked(lockfile, buf_str(&text), text.len);
}

/* Checks against the lock file of the bundle. */
static bool providers_suffice(const struct job *job, int folder)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(LOCKFILE_LIMIT);
	struct lockfile lockfile;
	struct err err = ERR_INIT;
	bool fits;

	if (beneath_read(folder, LOCKFILE_NAME, &text, &err) < 0 && err.kind != ERR_NOT_FOUND)
		return false;
	lockfile_read(buf_str(&text), &lockfile);
	fits = state_fits(job, &lockfile);
	lockfile_release(&lockfile);
	return fits;
}

/* ---- the key ---- */

/* Each run has tokens of its own, with the workspace as their subject. */
static void add_credentials(const struct assignment *assignment, json_t *key)
{
	const json_t *item;
	size_t i;

	if (json_array_size(assignment->credentials))
		json_array_append_new(key, json_string(assignment->workspace_id));
	json_array_foreach((json_t *)assignment->credentials, i, item)
	{
		json_t *copy = json_deep_copy(item);

		json_object_del(copy, "token");
		json_array_append_new(key, copy);
	}
}

static void add_environment(const struct job *job, json_t *key)
{
	_cleanup_(texts_release) struct texts env = {.items = NULL};

	if (job->has_modules) {
		add_credentials(&job->assignment, key);
		variables_environment(&job->assignment, &env);
		texts_add(&env, "%s", job->assignment.ssh_key);
		if (job->tofu) /* a module's source may use terraform.workspace */
			texts_add(&env, "%s", job_workspace(job));
	} else {
		variables_tokens(&job->assignment, &env);
	}
	for (size_t i = 0; i < env.count; i++)
		json_array_append_new(key, json_string(env.items[i]));
}

static int add_engine(const struct job *job, json_t *key)
{
	struct stat info;

	if (stat(job->engine, &info) < 0)
		return -1;
	return json_array_append_new(key,
		json_pack("[ssIIIII]", job->engine, job->result.terraform_version, (json_int_t)info.st_dev,
			(json_int_t)info.st_ino, (json_int_t)info.st_size, (json_int_t)info.st_mtim.tv_sec,
			(json_int_t)info.st_mtim.tv_nsec));
}

void init_key_make(struct job *job, const char *configuration)
{
	json_auto_t *key = json_pack("[sss]", configuration, job->folder, job->assignment.organization_id);
	_cleanup_(freep) char *text = NULL;

	if (job->host->hooks->present[HOOK_PRE_PLAN] || job->assignment.test) /* it may change any of them after this */
		return;
	if (job->assignment.provider_sets)
		json_array_append(key, (json_t *)job->assignment.provider_sets);
	if (add_engine(job, key) < 0)
		return;
	add_environment(job, key);
	text = json_dumps(key, JSON_COMPACT | JSON_SORT_KEYS);
	if (text)
		crypto_sha256_hex(text, strlen(text), job->init_key);
}

/* ---- the step ---- */

struct reusing {
	struct job *job;
	int bundle; /* file */
	char digest[SHA256_HEX_SIZE];
	bool fits;
};

/* Restores the configuration's own lock file for an init. */
static void take_back(const struct job *job, int folder)
{
	struct err err = ERR_INIT;

	beneath_remove(folder, ".terraform");
	if (!job->locked)
		beneath_remove(folder, LOCKFILE_NAME);
	else if (beneath_write(folder, LOCKFILE_NAME, 0644, text_bytes(job->locked), &err) < 0)
		log_warn("a lock file can't be written back", "run", job->result.run.text, "why", err.message, NULL);
}

static void reuse(void *data)
{
	struct reusing *reusing = data;
	const struct job *job = reusing->job;
	_cleanup_(closep) int folder = beneath_open(job->dir.root, job->folder, O_RDONLY | O_DIRECTORY, 0);
	char digest[SHA256_HEX_SIZE];
	struct err err = ERR_INIT;

	if (folder < 0 || crypto_sha256_file(reusing->bundle, digest) < 0 || !text_equal(digest, reusing->digest))
		return;
	reusing->fits = bundle_unpack(job, folder, reusing->bundle, &err) && backend_record_unpark(folder) &&
		providers_suffice(job, folder);
	if (!reusing->fits)
		take_back(job, folder);
}

static void reused(void *data)
{
	struct reusing reusing = *(struct reusing *)data;
	struct job *job = reusing.job;

	free(data);
	if (!reusing.fits) {
		inits_forget(job->host->inits, job->init_key);
		close(reusing.bundle);
		return;
	}
	job->init_wanted = false;
	job->init_reused = true;
	metric_add(M_INITS_REUSED, "stage=\"plan\"", 1);
	job_upload_init(job, reusing.bundle);
}

void step_reuse(struct job *job)
{
	struct reusing *reusing;
	char digest[SHA256_HEX_SIZE];
	int bundle = -1;

	if (job->init_key[0])
		bundle = inits_find(job->host->inits, job->init_key, clock_mono_ms(), digest);
	if (bundle < 0)
		return;
	reusing = mem_new(1, sizeof(*reusing));
	*reusing = (struct reusing){.job = job, .bundle = bundle};
	text_copy(reusing->digest, sizeof(reusing->digest), digest);
	job_work(job, reuse, reused, reusing);
}

void init_useless(struct job *job)
{
	if (job->init_reused)
		inits_forget(job->host->inits, job->init_key);
}
