/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/installer.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/log.h"
#include "worker/engine/arguments.h"
#include "worker/exec/child.h"
#include "worker/limits/measure.h"
#include "worker/metrics.h"
#include "worker/network/network.h"
#include "worker/runtime/command.h"

enum {
	MAX_QUEUED = 64,
	MAX_QUEUED_OF_ONE = 16, /* of one organization */
	MAX_FAILED = 256,
	RETRY_MS = 60 * 60 * 1000,
	LIMIT_MS = 10 * 60 * 1000, /* for one installation */
	DISK_LOOK_MS = 2000,
	OUTPUT_LIMIT = 64 * 1024,
};

static const char job_name[] = "install"; /* folder of the current installation */

/* A package: address and version. */
struct install {
	char *engine, *mirror, *organization, *address, *version; /* owned; all NULL: none */
};

struct failure {
	char *package; /* address and version; owned */
	int64_t until_ms;
};

struct installer {
	const struct job_host *host;
	char *path; /* <data-dir>/installer */
	int folder;
	struct install queue[MAX_QUEUED];
	size_t queued;
	struct failure failures[MAX_FAILED];
	size_t next_failure;
	struct install current;
	char *last_organization;
	bool busy;
	struct network_use *network; /* of the current installation; NULL: the machine's network, or none */
	struct child *child;
	int top;    /* of the current folder, or -1 */
	int output; /* memory file with the engine's output, or -1 */
	int64_t disk_bytes;
	bool measuring, ended;
	bool passed; /* the engine succeeded */
	int adopted;
	struct loop_timer time_timer, disk_timer, next_timer;
};

/* ---- names ---- */

static bool name_fits(const char *name, size_t len, const char *more)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-";
	enum { MAX_NAME = 253 };

	if (len == 0 || len > MAX_NAME)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!strchr(plain, name[i]) && !strchr(more, name[i]))
			return false;
	return name[0] != '.' && name[0] != '-';
}

/* "host/namespace/type": the host may have dots and a port. */
static bool address_fits(const char *address)
{
	static const char *const more[] = {".:", "_", "_"};
	const char *at = address;

	for (size_t i = 0; i < ARRAY_LEN(more); i++) {
		size_t len = strcspn(at, "/");

		if (!name_fits(at, len, more[i]) || (at[len] == '/') != (i + 1 < ARRAY_LEN(more)))
			return false;
		at += len + 1;
	}
	return true;
}

int install_configuration(const char *address, const char *version, struct buf *out)
{
	if (!address_fits(address) || !name_fits(version, strlen(version), ".+") || !strchr("0123456789", *version))
		return -1;
	return buf_printf(out,
		"terraform {\n  required_providers {\n    package = {\n      source  = \"%s\"\n"
		"      version = \"= %s\"\n    }\n  }\n}\n",
		address, version);
}

/* ---- the queue ---- */

static void install_release(struct install *install)
{
	free(install->engine);
	free(install->mirror);
	free(install->organization);
	free(install->address);
	free(install->version);
	*install = (struct install){.engine = NULL};
}

static bool is_same(const struct install *install, const struct install_request *request)
{
	return install->address && text_equal(install->address, request->address) &&
		text_equal(install->version, request->version);
}

static bool is_expected(const struct installer *installer, const struct install_request *request)
{
	if (is_same(&installer->current, request))
		return true;
	for (size_t i = 0; i < installer->queued; i++)
		if (is_same(&installer->queue[i], request))
			return true;
	return false;
}

static bool has_failed(const struct installer *installer, const struct install_request *request)
{
	_cleanup_(freep) char *package = mem_printf("%s %s", request->address, request->version);
	int64_t now = clock_mono_ms();

	for (size_t i = 0; i < MAX_FAILED; i++)
		if (text_equal(text_or_empty(installer->failures[i].package), package) &&
			now < installer->failures[i].until_ms)
			return true;
	return false;
}

static void note_failure(struct installer *installer)
{
	struct failure *failure = &installer->failures[installer->next_failure++ % MAX_FAILED];

	free(failure->package);
	*failure =
		(struct failure){.package = mem_printf("%s %s", installer->current.address, installer->current.version),
			.until_ms = clock_mono_ms() + RETRY_MS};
	metric_add(M_PROVIDERS_UNVERIFIED, "reason=\"failed\"", 1);
}

static bool queue_is_full(const struct installer *installer, const char *organization)
{
	size_t own = 0;

	for (size_t i = 0; i < installer->queued; i++)
		own += text_equal(installer->queue[i].organization, organization);
	return installer->queued == MAX_QUEUED || own == MAX_QUEUED_OF_ONE;
}

/* Takes the first request of an organization other than the last one's, or else the first request. */
static struct install queue_take(struct installer *installer)
{
	struct install taken;
	size_t at = 0;

	while (at < installer->queued &&
		text_equal(installer->queue[at].organization, text_or_empty(installer->last_organization)))
		at++;
	if (at == installer->queued)
		at = 0;
	taken = installer->queue[at];
	installer->queued--;
	memmove(&installer->queue[at], &installer->queue[at + 1], (installer->queued - at) * sizeof(taken));
	return taken;
}

/* ---- one installation ---- */

static void install_next(void *data);

static void folder_remove(void *data)
{
	struct installer *installer = data;

	closep(&installer->top);
	beneath_remove(installer->folder, job_name);
}

static void folder_removed(void *data)
{
	struct installer *installer = data;

	network_release(installer->network);
	installer->network = NULL;
	free(installer->last_organization);
	installer->last_organization = installer->current.organization;
	installer->current.organization = NULL;
	install_release(&installer->current);
	installer->busy = false;
	install_next(installer);
}

static void adopt(void *data)
{
	struct installer *installer = data;
	_cleanup_(closep) int config = beneath_open(installer->top, "root/config", O_RDONLY | O_DIRECTORY, 0);

	if (installer->passed && config >= 0)
		installer->adopted = providers_adopt(installer->host->providers, config);
	folder_remove(installer);
}

/* The first lines name the error. They contain no secret, because an installation is given none. */
static void log_failure(const struct installer *installer, const char *why)
{
	_cleanup_(buf_release) struct buf output = BUF_INIT(OUTPUT_LIMIT);
	char chunk[4096];
	ssize_t got = installer->output < 0 ? 0 : pread(installer->output, chunk, sizeof(chunk), 0);

	if (got > 0)
		buf_append(&output, chunk, (size_t)got);
	log_warn("a provider package can't be verified; only jobs of the organization that installed it use it again",
		"provider", installer->current.address, "version", installer->current.version, "why", why, "output",
		buf_str(&output), NULL);
}

static void adopted(void *data)
{
	struct installer *installer = data;

	if (installer->adopted > 0) {
		metric_add(M_PROVIDERS_ADOPTED, "", installer->adopted);
		log_info("provider package verified", "provider", installer->current.address, "version",
			installer->current.version, NULL);
	} else {
		log_failure(installer, installer->passed ? "init installed no package" : "init failed");
		note_failure(installer);
	}
	closep(&installer->output);
	folder_removed(installer);
}

/* Runs when both the engine and the disk measurement have ended. */
static void install_ended(struct installer *installer)
{
	if (installer->ended && !installer->measuring)
		loop_work(installer->host->loop, adopt, adopted, installer);
}

static void engine_ended(void *data, const struct keeper_report *report)
{
	struct installer *installer = data;

	installer->child = NULL;
	installer->ended = true;
	installer->passed =
		report->why == KEEPER_ENDED && WIFEXITED(report->status) && WEXITSTATUS(report->status) == 0;
	loop_timer_clear(installer->host->loop, &installer->time_timer);
	loop_timer_clear(installer->host->loop, &installer->disk_timer);
	install_ended(installer);
}

static void kill_engine(void *data)
{
	struct installer *installer = data;

	if (installer->child)
		child_kill(installer->child);
}

static void disk_measure(void *data)
{
	struct installer *installer = data;

	installer->disk_bytes = measure_folder(installer->top, installer->host->limits->disk << 20);
}

static void disk_look(void *data);

static void disk_measured(void *data)
{
	struct installer *installer = data;
	long long limit = installer->host->limits->disk << 20;

	installer->measuring = false;
	if (installer->ended) {
		install_ended(installer);
		return;
	}
	if (limit > 0 && installer->disk_bytes > limit)
		child_kill(installer->child);
	loop_timer_set(installer->host->loop, &installer->disk_timer, DISK_LOOK_MS, disk_look, installer);
}

static void disk_look(void *data)
{
	struct installer *installer = data;

	installer->measuring = true;
	loop_work(installer->host->loop, disk_measure, disk_measured, installer);
}

/* ---- its start ---- */

static int write_files(const struct installer *installer, struct err *err)
{
	_cleanup_(buf_release) struct buf config = BUF_INIT(4096), cli = BUF_INIT(65536);
	const struct install_sources sources = {.mirror = installer->current.mirror};

	if (install_configuration(installer->current.address, installer->current.version, &config) < 0 ||
		providers_cli_config(&sources, &cli) < 0)
		return err_set(err, ERR_INVALID, "the provider's name or the mirror is too long");
	if (beneath_mkdirs(installer->top, "root/home") < 0)
		return err_errno(err, installer->path);
	if (beneath_write(installer->top, "root/config/main.tf", 0644, buf_bytes(&config), err) < 0)
		return -1;
	return beneath_write(installer->top, "cli.tfrc", 0644, buf_bytes(&cli), err);
}

static void make_env(const struct installer *installer, const struct sandbox_job *view, struct texts *env)
{
	const struct sandbox *sandbox = installer->host->sandbox;
	_cleanup_(freep) char *home = sandbox_path(sandbox, view, "home");

	command_environment(env);
	texts_add(env, "HOME=%s", home);
	texts_add(env, "TF_CLI_CONFIG_FILE=%s", sandbox_cli_config(sandbox, view));
}

static int start_child(struct installer *installer, const struct sandbox_start *start, struct err *err)
{
	const struct job_limits *limits = installer->host->limits;
	const struct child_spec spec = {
		.ended = engine_ended,
		.data = installer,
		.argv = start->argv.items,
		.env = start->env.items ? start->env.items : (char *[]){NULL},
		.folder = start->folder,
		.fds = {-1, installer->output, installer->output, start->args_fd, start->second_fd},
		.network = installer->network ? network_namespaces(installer->network) : NULL,
		.terms = {.limits = {.memory = limits->memory << 20,
				  .processes = limits->processes,
				  .file_size = limits->disk << 20},
			.low_priority = true},
	};

	if (installer->network && !spec.network)
		return err_set(err, ERR_INTERNAL, "its network ended: pasta on the worker was killed or failed");
	return child_start(installer->host->loop, &spec, &installer->child, err);
}

static int start(struct installer *installer, struct err *err)
{
	const struct sandbox *sandbox = installer->host->sandbox;
	_cleanup_(freep) char *root = mem_printf("%s/%s/root", installer->path, job_name);
	_cleanup_(freep) char *cli_config = mem_printf("%s/%s/cli.tfrc", installer->path, job_name);
	const struct sandbox_job view = {.root = root, .cli_config = cli_config, .engine = installer->current.engine};
	_cleanup_(freep) char *folder = sandbox_path(sandbox, &view, "config");
	_cleanup_(texts_release) struct texts args = {.items = NULL}, env = {.items = NULL};
	_cleanup_(sandbox_start_release) struct sandbox_start prepared = SANDBOX_START_INIT;
	const struct sandbox_command command = {
		.folder = folder, .args = &args, .env = &env, .offline = installer->host->offline};

	if (beneath_mkdirs(installer->folder, job_name) < 0 ||
		(installer->top = beneath_open(installer->folder, job_name, O_RDONLY | O_DIRECTORY, 0)) < 0 ||
		(installer->output = child_output()) < 0)
		return err_errno(err, installer->path);
	if (write_files(installer, err) < 0)
		return -1;
	arguments_init(&(struct assignment){.test = NULL}, &args);
	make_env(installer, &view, &env);
	if (sandbox_prepare(sandbox, &view, &command, &prepared, err) < 0)
		return -1;
	return start_child(installer, &prepared, err);
}

/* The engine or its network did not start. */
static void start_failed(struct installer *installer, const char *why)
{
	log_warn("the verification of a provider package can't be started", "provider", installer->current.address,
		"why", why, NULL);
	note_failure(installer);
	closep(&installer->output);
	loop_work(installer->host->loop, folder_remove, folder_removed, installer);
}

static void network_ready(void *data, const struct err *no_network)
{
	struct installer *installer = data;
	struct err err = ERR_INIT;

	if (no_network || start(installer, &err) < 0) {
		start_failed(installer, no_network ? no_network->message : err.message);
		return;
	}
	loop_timer_set(installer->host->loop, &installer->time_timer, LIMIT_MS, kill_engine, installer);
	loop_timer_set(installer->host->loop, &installer->disk_timer, DISK_LOOK_MS, disk_look, installer);
}

static bool is_url(const char *mirror)
{
	return text_starts(mirror, "https://") || text_starts(mirror, "http://");
}

static void install_next(void *data)
{
	struct installer *installer = data;

	if (installer->busy || installer->queued == 0)
		return;
	installer->current = queue_take(installer);
	installer->busy = true;
	installer->ended = installer->measuring = installer->passed = false;
	installer->adopted = 0;
	if (!installer->host->networks) {
		network_ready(installer, NULL);
		return;
	}
	installer->network = network_take(
		installer->host->networks, "", is_url(installer->current.mirror) ? installer->current.mirror : "");
	network_on_loss(installer->network, kill_engine, installer);
	network_wait(installer->network, network_ready, installer);
}

void installer_request(struct installer *installer, const struct install_request *request)
{
	_cleanup_(buf_release) struct buf ignored = BUF_INIT(4096);

	if (is_expected(installer, request) || has_failed(installer, request))
		return;
	if (install_configuration(request->address, request->version, &ignored) < 0) {
		metric_add(M_PROVIDERS_UNVERIFIED, "reason=\"name\"", 1);
		return;
	}
	if (queue_is_full(installer, request->organization)) {
		metric_add(M_PROVIDERS_UNVERIFIED, "reason=\"queue\"", 1);
		return;
	}
	installer->queue[installer->queued++] = (struct install){.engine = mem_text(request->engine),
		.mirror = mem_text(request->mirror),
		.organization = mem_text(request->organization),
		.address = mem_text(request->address),
		.version = mem_text(request->version)};
	/* Starts after the job that installed the package has gone on. */
	loop_timer_set(installer->host->loop, &installer->next_timer, 0, install_next, installer);
}

/* ---- its life ---- */

int installer_open(const struct job_host *host, const char *data_dir, struct installer **ret_installer, struct err *err)
{
	_cleanup_(freep) char *path = mem_printf("%s/installer", data_dir);
	int folder = folder_make(path, true, err);
	struct installer *installer;

	if (folder < 0)
		return -1;
	installer = mem_new(1, sizeof(*installer));
	*installer = (struct installer){.host = host, .path = path, .folder = folder, .top = -1, .output = -1};
	path = NULL;
	*ret_installer = installer;
	return 0;
}

void installer_stop(struct installer *installer)
{
	if (!installer)
		return;
	loop_timer_clear(installer->host->loop, &installer->time_timer);
	loop_timer_clear(installer->host->loop, &installer->disk_timer);
	loop_timer_clear(installer->host->loop, &installer->next_timer);
	child_abandon(installer->child);
	installer->child = NULL;
	network_release(installer->network);
	installer->network = NULL;
}

void installer_free(struct installer *installer)
{
	if (!installer)
		return;
	while (installer->queued > 0)
		install_release(&installer->queue[--installer->queued]);
	for (size_t i = 0; i < MAX_FAILED; i++)
		free(installer->failures[i].package);
	install_release(&installer->current);
	free(installer->last_organization);
	closep(&installer->output);
	closep(&installer->top);
	close(installer->folder);
	free(installer->path);
	free(installer);
}
