/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/git_task.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "common/terraform/module_description.h"
#include "worker/exec/beneath.h"
#include "worker/exec/bounded.h"
#include "worker/exec/child.h"
#include "worker/git/caches.h"
#include "worker/git/git_result.h"
#include "worker/git/proxy_settings.h"
#include "worker/git/records.h"
#include "worker/git/tree_pack.h"
#include "worker/metrics.h"
#include "worker/runtime/worker.h"
#include "worker/upload/channel.h"

enum {
	OUT_MAX = 48 << 20,
	ERRORS_MAX = 64 * 1024,
};

struct git_task {
	const struct git_host *host;
	char *job, *token, *kind, *name; /* name: of its folder; owned */
	char *cache;                     /* name of the repository's cache; owned */
	int attempt;
	json_t *order; /* of the claim; dropped once the program has it */
	json_t *result;
	char *directory; /* of a fetch: the folder to pack, or NULL: the commit; owned */
	int top;         /* its folder, or -1 */
	int locked;      /* the repository's cache (caches.h), or -1 */
	struct child *child;
	struct channel channel;
	struct keeper_lease lease;
	int64_t begun_ms;
	bool lost;     /* nothing is reported */
	bool given_up; /* reported as given up */
	bool working;  /* in a thread of the loop */
	/* Of the threads: */
	struct err err;
	struct tree_packed packed;
	int archive; /* file, or -1 */
};

const char *git_task_job(const struct git_task *task)
{
	return task->job;
}

int git_task_attempt(const struct git_task *task)
{
	return task->attempt;
}

bool git_task_caches(const struct git_task *task)
{
	return task->cache != NULL;
}

void git_task_free(struct git_task *task)
{
	json_decref(task->order);
	json_decref(task->result);
	json_decref(task->packed.pointers);
	closep(&task->top);
	closep(&task->locked);
	closep(&task->archive);
	free(task->job);
	free(task->token);
	free(task->kind);
	free(task->name);
	free(task->cache);
	free(task->directory);
	free(task);
}

/* ---- the end ---- */

static void folder_remove(void *data)
{
	struct git_task *task = data;

	closep(&task->top);
	closep(&task->locked);
	beneath_remove(task->host->jobs, task->name);
}

static void folder_removed(void *data)
{
	struct git_task *task = data;
	const char *outcome = task->lost ? "lost" : text_or_empty(json_string_at(task->result, "outcome"));

	metric_addf(M_GIT_JOBS, 1, "kind=\"%s\",outcome=\"%s\"", task->kind, outcome);
	metric_observef(
		M_GIT_JOB_SECONDS, (double)(clock_mono_ms() - task->begun_ms) / 1000, "kind=\"%s\"", task->kind);
	task->host->ended(task->host->data, task);
	git_task_free(task);
}

static void task_end(struct git_task *task)
{
	channel_close(&task->channel);
	task->working = true;
	loop_work(task->host->worker->loop, folder_remove, folder_removed, task);
}

static void result_answered(void *data, int status, const struct buf *body)
{
	struct git_task *task = data;
	char sentence[256];

	if (status >= 300) {
		answer_sentence(status, body, sentence, sizeof(sentence));
		log_warn("the scheduler did not take the result of a git job", "job", task->job, "why", sentence, NULL);
	}
	task_end(task);
}

/* Takes the result. */
static void task_report(struct git_task *task, json_t *result)
{
	_cleanup_(freep) char *text = NULL;

	json_decref(task->result);
	task->result = result;
	if (task->lost || task->channel.over) {
		task_end(task);
		return;
	}
	if (task->given_up)
		json_object_set_new(result, "outcome", json_string("given-up"));
	text = json_text(result);
	log_info("git job ended", "job", task->job, "kind", task->kind, "outcome", json_string_at(result, "outcome"),
		"error", json_string_at(result, "error"), NULL);
	channel_send(&task->channel,
		&(struct transfer_spec){.method = "POST",
			.path = "result",
			.what = "git-result",
			.content_type = "application/json",
			.body = text,
			.body_len = strlen(text)},
		result_answered, task);
}

static void task_fail(struct git_task *task, const char *outcome, const char *error)
{
	task_report(task, json_pack("{ss ss}", "outcome", outcome, "error", error));
}

/* ---- the archive ---- */

static void archive_answered(void *data, int status, const struct buf *body)
{
	struct git_task *task = data;
	char sentence[256];

	if (status >= 200 && status < 300) {
		task_report(task, json_incref(task->result));
		return;
	}
	answer_sentence(status, body, sentence, sizeof(sentence));
	task_fail(task, status == 413 ? "failed" : "retry", sentence);
}

static void archive_send(struct git_task *task)
{
	_cleanup_(freep) char *path = mem_printf("archive?hash=%s&size=%lld", task->packed.hash, task->packed.size);
	int archive = task->archive;

	json_object_set(task->result, "lfs-pointers", task->packed.pointers);
	task->archive = -1;
	channel_send(&task->channel,
		&(struct transfer_spec){.method = "PUT",
			.path = path,
			.what = "git-archive",
			.content_type = "application/gzip",
			.body_fd = archive},
		archive_answered, task);
}

static void archive_pack_tree(void *data)
{
	struct git_task *task = data;
	const struct options *options = &task->host->worker->options;
	const struct tree_limits limits = {.files = options->fetch_files, .bytes = options->fetch_size << 20};
	_cleanup_(closep) int tree = beneath_open(task->top, "root/tree", O_RDONLY | O_DIRECTORY, 0);

	task->archive = beneath_open(task->top, "archive", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (tree < 0 || task->archive < 0)
		err_errno(&task->err, "the folder of the commit");
	else
		tree_pack(
			&(struct tree_place){tree, task->directory}, task->archive, &limits, &task->packed, &task->err);
}

static void archive_packed(void *data)
{
	struct git_task *task = data;
	bool again = task->err.kind == ERR_INTERNAL || task->err.kind == ERR_UNAVAILABLE;

	task->working = false;
	if (task->lost || task->given_up)
		task_report(task, json_incref(task->result));
	else if (task->err.kind != ERR_NONE)
		task_fail(task, again ? "retry" : "failed", task->err.message);
	else
		archive_send(task);
}

/* ---- the program ---- */

static bool is_module(const struct git_task *task)
{
	return text_equal(task->kind, "module");
}

static void helper_errors_log(const struct git_task *task, const struct buf *errors)
{
	if (errors->len && is_module(task))
		log_warn("runyard-inspect", "job", task->job, "output", buf_str(errors), NULL);
	else if (errors->len)
		log_warn("runyard-git", "job", task->job, "output", buf_str(errors), NULL);
}

/* A sentence with the reason why the program was killed; NULL if it ended normally. */
static const char *stopped_by(const struct git_task *task, const struct bounded_result *result, char text[256])
{
	const struct options *options = &task->host->worker->options;
	const char *what = is_module(task) ? "The inspection" : "git";

	if (result->end == BOUNDED_TIME)
		snprintf(text, 256, "%s took longer than %lld s (--fetch-seconds).", what,
			(long long)options->fetch_seconds);
	else if (result->end != BOUNDED_ENDED)
		snprintf(text, 256, "%s's answer is too large.", what);
	else if (result->why == KEEPER_MEMORY)
		snprintf(text, 256, "%s used more than %lld MiB of memory (--job-memory).", what,
			(long long)options->job_memory);
	else if (result->why == KEEPER_PROCESSES)
		snprintf(text, 256, "%s started more than %lld processes (--job-processes).", what,
			(long long)options->job_processes);
	else
		return NULL;
	return text;
}

/* The description that runyard-inspect wrote; a failure if it was killed, by what it read. */
static json_t *description_read(const struct bounded_result *result, bool ended)
{
	json_t *description = NULL;
	struct err err = ERR_INIT;

	if (!ended || json_parse(buf_str(result->out), result->out->len, &description, &err) < 0)
		return json_pack("{ss ss}", "outcome", "failed", "error", "The module can't be inspected.");
	return json_pack("{ss so}", "outcome", "done", "module", description);
}

static void program_ended(void *data, const struct bounded_result *result)
{
	struct git_task *task = data;
	bool ended = WIFEXITED(result->status) && WEXITSTATUS(result->status) == 0;
	char why[256];

	task->child = NULL;
	helper_errors_log(task, result->errors);
	if (task->lost || task->given_up) {
		task_report(task, json_object());
	} else if (stopped_by(task, result, why)) {
		task_fail(task, result->end == BOUNDED_TIME ? "retry" : "failed", why);
	} else if (is_module(task)) {
		task_report(task, description_read(result, ended));
	} else {
		json_decref(task->result);
		task->result = git_result_read(
			task->order, buf_bytes(result->out), ended, task->host->worker->options.fetch_size);
		json_decref(task->order);
		task->order = NULL;
		if (text_equal(task->kind, "fetch") && text_equal(json_string_at(task->result, "outcome"), "done")) {
			task->working = true;
			loop_work(task->host->worker->loop, archive_pack_tree, archive_packed, task);
		} else {
			task_report(task, json_incref(task->result));
		}
	}
}

/* ---- the start ---- */

static void add_number(struct buf *records, const char *name, long long number)
{
	_cleanup_(freep) char *text = mem_printf("%lld", number);

	record_add(records, name, text);
}

/* The texts that have the same names in the job and in the helper's order. */
static const char *const copied[] = {"kind", "url", "identifier", "sha", "before", "base"};
static const char *const login[] = {"user", "password", "ssh-key", "host-keys"};

static int order_write(const struct git_task *task, const char *folder, struct buf *records)
{
	const struct worker *worker = task->host->worker;
	const struct options *options = &worker->options;
	_cleanup_(freep) char *cache = mem_printf("%s/%s", task->host->caches_path, text_or_empty(task->cache));
	const json_t *ref;
	size_t i;

	for (i = 0; i < ARRAY_LEN(copied); i++)
		record_add(records, copied[i], json_string_at(task->order, copied[i]));
	for (i = 0; i < ARRAY_LEN(login); i++)
		record_add(records, login[i], json_string_at(json_at(task->order, "login"), login[i]));
	json_array_foreach(json_at(task->order, "refs"), i, ref) record_add(records, "ref", json_string_value(ref));
	record_add(records, "submodules", json_bool_at(task->order, "submodules", false) ? "1" : "0");
	record_add(records, "folder", folder);
	record_add(records, "cache", sandbox_cache(&worker->sandbox, cache));
	record_add(records, "ca", worker->sandbox.trust);
	add_number(records, "max-files", options->fetch_files);
	add_number(records, "max-bytes", options->fetch_size << 20);
	if (proxy_settings_add(records) < 0)
		return -1;
	/* The last record marks the end of a complete order. */
	return record_add(records, "vcs-allow", options->vcs_allow);
}

static int order_file(const struct buf *records, int *ret_fd, struct err *err)
{
	_cleanup_(closep) int fd = -1;

	if (memory_file("order", records, &fd, err) < 0)
		return -1;
	*ret_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return *ret_fd < 0 ? err_errno(err, "dup") : 0;
}

static struct keeper_terms terms_of(const struct git_task *task)
{
	const struct job_limits *limits = &task->host->worker->limits;

	return (struct keeper_terms){.lease = task->lease,
		.limits = {.memory = limits->memory << 20,
			.processes = limits->processes,
			.file_size = limits->disk << 20}};
}

static int program_start(struct git_task *task, const struct sandbox_start *start, int in, struct err *err)
{
	const struct bounded_spec spec = {.start = start,
		.terms = terms_of(task),
		.in = in,
		.max_ms = task->host->worker->options.fetch_seconds * 1000,
		.max_out = is_module(task) ? MODULE_DESCRIPTION_MAX : OUT_MAX,
		.max_errors = ERRORS_MAX,
		.done = program_ended,
		.data = task};

	return bounded_start(task->host->worker->loop, &spec, &task->child, err);
}

/* The server's side of runyard-git starts the sandbox. */
static int git_start(struct git_task *task, const struct sandbox_start *sandboxed, int order, struct err *err)
{
	struct sandbox_start start = *sandboxed;
	_cleanup_(texts_release) struct texts argv = {.items = NULL};

	TEXTS_ADD(&argv, task->host->helper, "serve", "--");
	texts_add_list(&argv, (const char *const *)sandboxed->argv.items);
	start.argv = argv;
	return program_start(task, &start, order, err);
}

static int sandbox_start(struct git_task *task, struct err *err)
{
	const struct git_host *host = task->host;
	const struct sandbox *sandbox = &host->worker->sandbox;
	_cleanup_(freep) char *root = mem_printf("%s/%s/root", host->jobs_path, task->name);
	_cleanup_(freep) char *cache = mem_printf("%s/%s", host->caches_path, text_or_empty(task->cache));
	const struct sandbox_job view = {.root = root, .engine = host->helper, .cache = task->cache ? cache : NULL};
	_cleanup_(freep) char *folder = sandbox_path(sandbox, &view, "");
	_cleanup_(texts_release) struct texts args = {.items = NULL}, env = {.items = NULL};
	_cleanup_(sandbox_start_release) struct sandbox_start prepared = SANDBOX_START_INIT;
	_cleanup_(buf_release) struct buf records = BUF_INIT(ORDER_MAX);
	_cleanup_(closep) int order = -1;
	const struct sandbox_command command = {.folder = folder, .args = &args, .env = &env, .offline = host->offline};
	int status;

	texts_add(&args, "work");
	texts_add(&env, "PATH=/usr/local/bin:/usr/bin:/bin");
	status = order_write(task, folder, &records) < 0 ? err_set(err, ERR_INVALID, "the order is too large")
		: sandbox_prepare(sandbox, &view, &command, &prepared, err) < 0 || order_file(&records, &order, err) < 0
		? -1
		: git_start(task, &prepared, order, err);
	if (records.len)
		explicit_bzero(records.data, records.len);
	return status;
}

/* ---- a module ---- */

/* The sandbox has the program and an empty folder. The archive is its standard input. */
static int inspector_start(struct git_task *task, struct err *err)
{
	const struct git_host *host = task->host;
	_cleanup_(freep) char *root = mem_printf("%s/%s/root", host->jobs_path, task->name);
	const struct sandbox_job view = {.root = root, .read_only = true, .engine = host->inspector};
	_cleanup_(freep) char *folder = sandbox_path(&host->worker->sandbox, &view, "");
	_cleanup_(texts_release) struct texts args = {.items = NULL}, env = {.items = NULL};
	_cleanup_(sandbox_start_release) struct sandbox_start prepared = SANDBOX_START_INIT;
	const struct sandbox_command command = {.folder = folder, .args = &args, .env = &env, .offline = host->offline};

	texts_add(&env, "PATH=/usr/local/bin:/usr/bin:/bin");
	if (lseek(task->archive, 0, SEEK_SET) < 0)
		return err_errno(err, "the module's archive");
	return sandbox_prepare(&host->worker->sandbox, &view, &command, &prepared, err) < 0
		? -1
		: program_start(task, &prepared, task->archive, err);
}

static void module_came(void *data, int status, const struct buf *body)
{
	struct git_task *task = data;
	struct err err = ERR_INIT;
	char sentence[256];

	if (task->lost || task->given_up) {
		task_report(task, json_object());
	} else if (status != 200) {
		answer_sentence(status, body, sentence, sizeof(sentence));
		task_fail(task, "retry", sentence);
	} else if (inspector_start(task, &err) < 0) {
		task_fail(task, "retry", err.message);
	}
}

static void module_fetch(struct git_task *task)
{
	task->archive = beneath_open(task->top, "archive", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (task->archive < 0) {
		err_errno(&task->err, "the folder of the module");
		task_fail(task, "retry", task->err.message);
		return;
	}
	channel_send(&task->channel,
		&(struct transfer_spec){.method = "GET",
			.path = "module",
			.what = "module",
			.answer_fd = task->archive,
			.answer_limit = (size_t)task->host->worker->options.fetch_size << 20},
		module_came, task);
}

static void folders_make(void *data)
{
	struct git_task *task = data;
	_cleanup_(freep) char *root = mem_printf("%s/root", task->name);

	beneath_remove(task->host->jobs, task->name);
	if (beneath_mkdirs(task->host->jobs, root) < 0 ||
		(task->top = beneath_open(task->host->jobs, task->name, O_RDONLY | O_DIRECTORY, 0)) < 0)
		err_errno(&task->err, task->host->jobs_path);
	else if (task->cache)
		cache_lock(task->host->caches, task->cache, &task->locked, &task->err);
}

static void folders_made(void *data)
{
	struct git_task *task = data;

	task->working = false;
	if (task->lost || task->given_up) {
		task_report(task, json_object());
		return;
	}
	if (task->err.kind == ERR_NONE && is_module(task)) {
		module_fetch(task);
		return;
	}
	if (task->err.kind == ERR_NONE && sandbox_start(task, &task->err) == 0)
		return;
	task_fail(task, "retry", task->err.message);
}

static bool names_fit(const struct git_task *task)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";

	return task->job && task->token && task->kind && *task->job && strspn(task->job, plain) == strlen(task->job) &&
		(!task->cache || (*task->cache && strspn(task->cache, plain) == strlen(task->cache)));
}

struct git_task *git_task_start(const struct git_host *host, const json_t *claimed, const struct keeper_lease *lease)
{
	struct git_task *task = mem_new(1, sizeof(*task));
	const char *kind = json_string_at(claimed, "kind");

	*task = (struct git_task){.host = host,
		.job = mem_text(json_string_at(claimed, "job")),
		.token = mem_text(json_string_at(claimed, "token")),
		.kind = mem_text(kind),
		.cache = text_equal(kind, "diff") ? mem_text(json_string_at(claimed, "repository")) : NULL,
		.directory = text_equal(kind, "fetch") ? mem_text(json_string_at(claimed, "directory")) : NULL,
		.attempt = (int)json_int_at(claimed, "attempt", 0),
		.order = json_incref((json_t *)claimed),
		.top = -1,
		.locked = -1,
		.archive = -1,
		.lease = *lease,
		.begun_ms = clock_mono_ms(),
		.err = ERR_INIT};
	if (!names_fit(task)) {
		git_task_free(task);
		return NULL;
	}
	task->name = mem_printf("%s-%d", task->job, task->attempt);
	channel_open(&task->channel,
		&(struct channel_spec){.loop = host->worker->loop,
			.fetcher = host->worker->fetcher,
			.scheduler_url = host->worker->options.scheduler_url,
			.job = task->job,
			.token = task->token,
			.below = "git/jobs"});
	task->working = true;
	loop_work(host->worker->loop, folders_make, folders_made, task);
	return task;
}

/* ---- its life ---- */

void git_task_abandon(struct git_task *task)
{
	child_abandon(task->child);
	task->child = NULL;
	/* Another task may wait for the lock in a thread, which the end of the loop waits for. */
	if (!task->working) {
		closep(&task->locked);
	}
	channel_close(&task->channel);
}

void git_task_renew(struct git_task *task, const struct keeper_lease *lease)
{
	task->lease = *lease;
	if (task->child)
		child_renew(task->child, lease);
}

static void task_stop(struct git_task *task)
{
	if (task->child)
		child_kill(task->child);
	else if (!task->working)
		channel_give_up(&task->channel);
}

void git_task_lose(struct git_task *task)
{
	if (task->lost)
		return;
	task->lost = true;
	task_stop(task);
}

void git_task_give_up(struct git_task *task)
{
	if (task->given_up || task->lost)
		return;
	task->given_up = true;
	if (task->child)
		child_kill(task->child);
}
