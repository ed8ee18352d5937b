/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/schemas.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/crypto.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/engine/arguments.h"
#include "worker/packages/lockfile.h"
#include "worker/runtime/command.h"
#include "worker/stage/stages.h"

enum { MAX_KEPT = 64, LOCKFILE_LIMIT = 1024 * 1024, SCAN_LIMIT = 512 * 1024 * 1024 };

/* The cache. "<key>.json" has the schemas. "<key>.digest", which is written after it, has their SHA-256, followed by
 * a "+" if they include the engine's built-in provider. */
struct schemas {
	int folder;
};

/* The cache entry of one key. */
struct kept_schemas {
	char key[SHA256_HEX_SIZE];
	char digest[SHA256_HEX_SIZE];
	bool builtin;
};

/* A request to the scheduler about a digest. */
struct asking {
	struct job *job;
	struct kept_schemas kept;
};

int schemas_open(const char *data_dir, struct schemas **ret_schemas, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/schemas", data_dir);
	int folder = folder_make(path, false, err);

	if (folder < 0)
		return -1;
	*ret_schemas = mem_new(1, sizeof(**ret_schemas));
	(*ret_schemas)->folder = folder;
	return 0;
}

void schemas_free(struct schemas *schemas)
{
	if (schemas)
		close(schemas->folder);
	free(schemas);
}

/* ---- the key ---- */

static const char builtin_name[] = "terraform.io/builtin/terraform";

/* The built-in provider is in no lock file. Schemas with it suit every plan. Schemas without it suit only plans that
 * don't use it. */
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
	found = memmem(text, (size_t)info.st_size, builtin_name, sizeof(builtin_name) - 1) != NULL;
	munmap(text, (size_t)info.st_size);
	return found;
}

static void make_key(const struct job *job, char ret_key[SHA256_HEX_SIZE])
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(LOCKFILE_LIMIT + 1024);
	_cleanup_(buf_release) struct buf lock = BUF_INIT(LOCKFILE_LIMIT);
	_cleanup_(closep) int folder = beneath_open(job->dir.root, job->folder, O_RDONLY | O_DIRECTORY, 0);
	struct err err = ERR_INIT;

	if (folder >= 0)
		beneath_read(folder, LOCKFILE_NAME, &lock, &err);
	buf_printf(&text, "%s %s\n%s", job->tofu ? "tofu" : "terraform", job->result.terraform_version, buf_str(&lock));
	crypto_sha256_hex(text.data, text.len, ret_key);
}

/* ---- the cache ---- */

static int open_kept(const struct schemas *schemas, const char *key)
{
	_cleanup_(freep) char *name = mem_printf("%s.json", key);

	return beneath_open(schemas->folder, name, O_RDONLY, 0);
}

/* Fills the key, and the rest if the cache has an entry. False if it has none. */
static bool find_kept(const struct job *job, struct kept_schemas *ret_kept)
{
	_cleanup_(freep) char *name = NULL;
	_cleanup_(buf_release) struct buf text = BUF_INIT(SHA256_HEX_SIZE + 1);
	struct err err = ERR_INIT;

	make_key(job, ret_kept->key);
	name = mem_printf("%s.digest", ret_kept->key);
	if (beneath_read(job->host->schemas->folder, name, &text, &err) < 0 || text.len < SHA256_HEX_SIZE - 1)
		return false;
	text_copy(ret_kept->digest, SHA256_HEX_SIZE, buf_str(&text));
	ret_kept->builtin = buf_str(&text)[SHA256_HEX_SIZE - 1] == '+';
	return true;
}

/* Limits the cache: when it is full, removes all entries, which is rare and simple. */
static void make_room(const struct schemas *schemas)
{
	_cleanup_(list_closep) DIR *list = beneath_list(schemas->folder, ".");
	const char *name;
	size_t files = 0;

	if (!list)
		return;
	while (list_next(list))
		files++;
	rewinddir(list);
	while (files > (size_t)2 * MAX_KEPT && (name = list_next(list)))
		unlinkat(schemas->folder, name, 0);
}

/* Moves the job's schemas.json into the cache. `kept` has the key; the rest is filled. */
static int keep_schemas(const struct job *job, struct kept_schemas *kept)
{
	const struct schemas *schemas = job->host->schemas;
	_cleanup_(buf_release) struct buf text = BUF_INIT(SCAN_LIMIT);
	_cleanup_(freep) char *name = mem_printf("%s.json", kept->key);
	_cleanup_(freep) char *digest_name = mem_printf("%s.digest", kept->key);
	_cleanup_(freep) char *digest = NULL;
	struct err err = ERR_INIT;

	make_room(schemas);
	if (beneath_read(job->dir.top, "schemas.json", &text, &err) < 0)
		return -1;
	crypto_sha256_hex(buf_str(&text), text.len, kept->digest);
	kept->builtin = memmem(buf_str(&text), text.len, builtin_name, sizeof(builtin_name) - 1) != NULL;
	if (renameat(job->dir.top, "schemas.json", schemas->folder, name) < 0)
		return -1;
	digest = mem_printf("%s%s", kept->digest, kept->builtin ? "+" : "");
	return beneath_write(schemas->folder, digest_name, 0600, text_bytes(digest), &err);
}

/* ---- sending ---- */

static void digest_answered(void *data, int status, const struct buf *body)
{
	struct asking *asking = data;
	struct job *job = asking->job;
	_cleanup_(freep) char *path = mem_printf("schemas?digest=%s", asking->kept.digest);

	(void)body;
	if (status == 404 && (job->optional || !job_done(job)))
		job_upload_plan(job, path, "schemas", open_kept(job->host->schemas, asking->kept.key));
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
	struct kept_schemas kept = {.builtin = false};

	if (code != 0) {
		command_failed(job, "terraform providers schema", code, errors);
		return;
	}
	if (!wrote_all(job)) {
		log_warn("provider schemas were not written to the end: is the worker's disk full?", "run",
			job->result.run.text, NULL);
		return;
	}
	make_key(job, kept.key);
	if (keep_schemas(job, &kept) < 0)
		log_warn("provider schemas can't be kept", "run", job->result.run.text, NULL);
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
