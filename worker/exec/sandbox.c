/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/sandbox.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/process.h"
#include "worker/exec/beneath.h"
#include "worker/exec/etc.h"
#include "worker/exec/program.h"
#include "worker/exec/syscall_filter.h"
#include "worker/sandbox/view.h"

static const char bwrap_name[] = "bwrap";

static const char inside_root[] = "/job";
static const char inside_store[] = "/providers";
static const char inside_packages[] = "/organization-packages";
static const char inside_cache[] = "/cache";
static const char inside_engine[] = "/engine/";
static const char inside_hooks[] = "/hooks";
static const char inside_cli_config[] = "/engine/cli.tfrc";

/* Folders of a base at which programs mount their own ones. */
static const char *const places[] = {inside_root, inside_packages};

/* Numbers of bwrap's descriptors, which struct sandbox_start describes. */
#define ARGS_NUMBER   "3"
#define FILTER_NUMBER "4"
enum { ARGS_LIMIT = 8 * 1024 * 1024 };

/* Namespaces and fixed mounts. With --unshare-user-try, if user namespaces are allowed, root inside has no
 * privileges outside. */
static const char *const always[] = {
	"--unshare-user-try",
	"--unshare-pid",
	"--unshare-ipc",
	"--unshare-uts",
	"--cap-drop",
	"ALL",
	"--die-with-parent",
	"--hostname",
	"runyard",
	"--proc",
	"/proc",
	"--remount-ro",
	"/proc",
	"--dev",
	"/dev",
	"--size",
	"67108864",
	"--tmpfs",
	"/dev/shm",
	"--remount-ro",
	"/dev",
	"--ro-bind",
	"/usr",
	"/usr",
	NULL,
};

static const char *const masked[] = {VIEW_MASKED};

/* Links to /usr on systems with a merged /usr, real folders elsewhere. */
static const char *const system_folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

const char *sandbox_store(const struct sandbox *sandbox)
{
	return sandbox->bwrap ? inside_store : sandbox->store;
}

const char *sandbox_packages(const struct sandbox *sandbox, const char *packages)
{
	return sandbox->bwrap ? inside_packages : packages;
}

const char *sandbox_cache(const struct sandbox *sandbox, const char *cache)
{
	return sandbox->bwrap ? inside_cache : cache;
}

char *sandbox_path(const struct sandbox *sandbox, const struct sandbox_job *job, const char *path)
{
	return mem_printf("%s%s%s", sandbox->bwrap ? inside_root : job->root, *path ? "/" : "", path);
}

const char *sandbox_cli_config(const struct sandbox *sandbox, const struct sandbox_job *job)
{
	return sandbox->bwrap ? inside_cli_config : job->cli_config;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- bwrap ---- */

static void add_bind(struct texts *args, const char *kind, const char *from, const char *to)
{
	TEXTS_ADD(args, kind, from, to);
}

static void add_system(struct texts *args, const struct sandbox *sandbox)
{
	char target[256];

	texts_add_list(args, always);
	for (size_t i = 0; i < ARRAY_LEN(masked); i++)
		if (access(masked[i], F_OK) == 0)
			add_bind(args, "--ro-bind", "/dev/null", masked[i]);
	if (sandbox->tmp > 0) {
		texts_add(args, "--size");
		texts_add(args, "%lld", sandbox->tmp);
	}
	TEXTS_ADD(args, "--tmpfs", "/tmp");
	for (size_t i = 0; i < ARRAY_LEN(system_folders); i++) {
		ssize_t len = readlink(system_folders[i], target, sizeof(target) - 1);

		target[len > 0 ? len : 0] = '\0';
		if (len > 0)
			add_bind(args, "--symlink", target, system_folders[i]);
		else
			add_bind(args, "--ro-bind-try", system_folders[i], system_folders[i]);
	}
}

static void add_etc(struct texts *args, struct etc *etc)
{
	etc_refresh(etc);
	add_bind(args, "--ro-bind", etc_path(etc), "/etc");
	for (const char *const *at = etc_folders(); *at; at++)
		if (access(*at, F_OK) == 0)
			add_bind(args, "--ro-bind", *at, *at);
}

static void add_binds(struct texts *args, const struct sandbox *sandbox)
{
	_cleanup_(freep) char *copy = mem_text(sandbox->binds);
	char *rest = copy, *path;

	while ((path = strsep(&rest, ",")))
		if (*path)
			add_bind(args, "--ro-bind", path, path);
	if (sandbox->trust)
		add_bind(args, "--ro-bind", sandbox->trust, sandbox->trust);
	if (sandbox->mirror)
		add_bind(args, "--ro-bind", sandbox->mirror, sandbox->mirror);
}

static void add_job(struct texts *args, const struct sandbox *sandbox, const struct sandbox_job *job)
{
	_cleanup_(freep) char *engine = mem_printf("%s%s", inside_engine, base_name(job->engine));

	add_bind(args, "--ro-bind", sandbox->store, inside_store);
	if (job->packages)
		add_bind(args, "--ro-bind", job->packages, inside_packages);
	if (job->cache)
		add_bind(args, "--bind", job->cache, inside_cache);
	add_bind(args, "--ro-bind", job->engine, engine);
	if (job->cli_config)
		add_bind(args, "--ro-bind", job->cli_config, inside_cli_config);
	add_bind(args, job->read_only ? "--ro-bind" : "--bind", job->root, inside_root);
}

static void add_environment(struct texts *args, const struct texts *env)
{
	for (size_t i = 0; i < env->count; i++) {
		const char *equals = strchr(env->items[i], '=');

		texts_add(args, "--setenv");
		texts_add(args, "%.*s", (int)(equals - env->items[i]), env->items[i]);
		texts_add(args, "%s", equals + 1);
	}
}

int memory_file(const char *name, const struct buf *bytes, int *ret_fd, struct err *err)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || write_fully(fd, bytes->data, bytes->len) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		closep(&fd);
		return err_errno(err, name);
	}
	*ret_fd = fd;
	return 0;
}

/* Writes the arguments, each followed by a zero byte, in the form of --args. */
static int args_file(const struct texts *args, int *ret_fd, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(ARGS_LIMIT);

	for (size_t i = 0; i < args->count; i++)
		if (buf_append(&bytes, args->items[i], strlen(args->items[i]) + 1) < 0)
			return err_set(err, ERR_TOO_LARGE, "the variables are too large to be handed over");
	return memory_file("sandbox arguments", &bytes, ret_fd, err);
}

static void add_program(const struct sandbox_job *job, const struct sandbox_command *command, struct texts *argv)
{
	if (command->hook)
		texts_add(argv, "%s/%s", inside_hooks, command->hook);
	else
		texts_add(argv, "%s%s", inside_engine, base_name(job->engine));
}

static int prepare_bwrap(const struct sandbox *sandbox, const struct sandbox_job *job,
	const struct sandbox_command *command, struct sandbox_start *start, struct err *err)
{
	_cleanup_(texts_release) struct texts args = {.items = NULL};

	add_system(&args, sandbox);
	add_etc(&args, sandbox->etc);
	add_job(&args, sandbox, job);
	if (command->hook)
		add_bind(&args, "--ro-bind", sandbox->hooks, inside_hooks);
	add_binds(&args, sandbox);
	if (command->offline)
		texts_add(&args, "--unshare-net");
	/* The mounts above stay as they are. Nothing can be written outside of them, into memory that no limit counts.
	 */
	TEXTS_ADD(&args, "--remount-ro", "/", "--chdir", command->folder);
	add_environment(&args, command->env);
	TEXTS_ADD(&args, "--seccomp", FILTER_NUMBER);
	if (args_file(&args, &start->args_fd, err) < 0 ||
		memory_file("system call filter", &sandbox->filter, &start->second_fd, err) < 0)
		return -1;
	TEXTS_ADD(&start->argv, sandbox->bwrap, "--args", ARGS_NUMBER, "--");
	add_program(job, command, &start->argv);
	start->folder = "/";
	return 0;
}

/* ---- a base, and programs in it ---- */

void sandbox_base_arguments(const struct sandbox *sandbox, const char *engine, struct texts *args)
{
	_cleanup_(freep) char *inside = mem_printf("%s%s", inside_engine, base_name(engine));

	texts_add(args, "%s", sandbox->bwrap);
	add_system(args, sandbox);
	add_etc(args, sandbox->etc);
	add_bind(args, "--ro-bind", sandbox->store, inside_store);
	add_bind(args, "--ro-bind", engine, inside);
	add_bind(args, "--ro-bind", "/dev/null", inside_cli_config); /* a file to mount another one at */
	add_binds(args, sandbox);
	for (size_t i = 0; i < ARRAY_LEN(places); i++)
		TEXTS_ADD(args, "--dir", places[i]);
	if (sandbox->hooks) {
		TEXTS_ADD(args, "--dir", inside_hooks);
		add_bind(args, "--ro-bind", sandbox->hooks, VIEW_HOST "/hooks");
	}
	add_bind(args, "--bind", sandbox->data_dir, VIEW_HOST "/data");
	add_bind(args, "--ro-bind", sandbox->program, VIEW_HOST "/sandbox");
	TEXTS_ADD(args, "--remount-ro", "/", "--");
	TEXTS_ADD(args, VIEW_HOST "/sandbox", "base");
}

static int record(struct buf *view, const char *name, const char *text)
{
	return buf_append(view, name, strlen(name) + 1) < 0 ? -1 : buf_append(view, text, strlen(text) + 1);
}

/* Mounts a folder or file of the worker's data directory. NULL: none. */
static int record_bind(
	struct buf *view, const struct sandbox *sandbox, const char *kind, const char *from, const char *to)
{
	_cleanup_(freep) char *seen = NULL;

	if (!from)
		return 0;
	assert(text_starts(from, sandbox->data_dir));
	seen = mem_printf(VIEW_HOST "/data%s", from + strlen(sandbox->data_dir));
	return record(view, kind, seen) < 0 ? -1 : buf_append(view, to, strlen(to) + 1);
}

static int record_hooks(struct buf *view, const struct sandbox_command *command)
{
	if (!command->hook)
		return 0;
	return record(view, "ro-bind", VIEW_HOST "/hooks") < 0 ? -1
							       : buf_append(view, inside_hooks, sizeof(inside_hooks));
}

static int records_add(struct buf *view, const struct sandbox *sandbox, const struct sandbox_job *job,
	const struct sandbox_command *command)
{
	int status = record_bind(view, sandbox, job->read_only ? "ro-bind" : "bind", job->root, inside_root) < 0 ||
			record_bind(view, sandbox, "ro-bind", job->packages, inside_packages) < 0 ||
			record_bind(view, sandbox, "ro-bind", job->cli_config, inside_cli_config) < 0 ||
			record_hooks(view, command) < 0 || record(view, "chdir", command->folder) < 0
		? -1
		: 0;

	for (size_t i = 0; status == 0 && i < command->env->count; i++)
		status = record(view, "set", command->env->items[i]);
	return status;
}

static int prepare_run(const struct sandbox *sandbox, const struct sandbox_job *job,
	const struct sandbox_command *command, struct sandbox_start *start, struct err *err)
{
	_cleanup_(buf_release) struct buf texts = BUF_INIT(ARGS_LIMIT), view = BUF_INIT(VIEW_MAX);
	struct view_header header = {
		.tmp_bytes = sandbox->tmp, .offline = command->offline, .filter_bytes = (uint32_t)sandbox->filter.len};

	if (records_add(&texts, sandbox, job, command) < 0)
		return err_set(err, ERR_TOO_LARGE, "the variables are too large to be handed over");
	header.text_bytes = (uint32_t)texts.len;
	buf_append(&view, &header, sizeof(header));
	buf_append(&view, sandbox->filter.data, sandbox->filter.len);
	buf_append(&view, texts.data, texts.len);
	if (memory_file("view", &view, &start->args_fd, err) < 0)
		return -1;
	start->second_fd = fcntl(command->base, F_DUPFD_CLOEXEC, 0);
	if (start->second_fd < 0)
		return err_errno(err, "the base");
	etc_refresh(sandbox->etc);
	TEXTS_ADD(&start->argv, sandbox->program, "run");
	add_program(job, command, &start->argv);
	start->folder = "/";
	return 0;
}

/* ---- none ---- */

static void prepare_none(const struct sandbox *sandbox, const struct sandbox_job *job,
	const struct sandbox_command *command, struct sandbox_start *start)
{
	if (command->hook)
		texts_add(&start->argv, "%s/%s", sandbox->hooks, command->hook);
	else
		texts_add(&start->argv, "%s", job->engine);
	texts_add_list(&start->env, (const char *const *)command->env->items);
	start->folder = command->folder;
}

int sandbox_prepare(const struct sandbox *sandbox, const struct sandbox_job *job, const struct sandbox_command *command,
	struct sandbox_start *ret_start, struct err *err)
{
	*ret_start = (struct sandbox_start)SANDBOX_START_INIT;
	if (!sandbox->bwrap) {
		prepare_none(sandbox, job, command, ret_start);
	} else if ((command->base ? prepare_run : prepare_bwrap)(sandbox, job, command, ret_start, err) < 0) {
		sandbox_start_release(ret_start);
		return -1;
	}
	texts_add_list(&ret_start->argv, (const char *const *)command->args->items);
	return 0;
}

void sandbox_start_release(struct sandbox_start *start)
{
	texts_release(&start->argv);
	texts_release(&start->env);
	closep(&start->args_fd);
	closep(&start->second_fd);
}

/* Runs /bin/true with the mounts of `always` and the filter. Returns 0 if that works. */
static int bwrap_try(const struct sandbox *sandbox, const char *bwrap, int filter, bool offline)
{
	_cleanup_(texts_release) struct texts argv = {.items = NULL};
	int pid, status = 0;
	struct err err = ERR_INIT;

	TEXTS_ADD(&argv, bwrap, "--as-pid-1"); /* so that it leaves no process of its own behind */
	add_system(&argv, sandbox);
	if (offline)
		texts_add(&argv, "--unshare-net");
	TEXTS_ADD(&argv, "--seccomp", FILTER_NUMBER, "--", "/bin/true");
	pid = program_spawn(argv.items, (struct program_fds){STDERR_FILENO, -1, filter}, &err);
	return pid < 0 || waitpid(pid, &status, 0) != pid ? -1 : status;
}

int sandbox_open(struct sandbox *sandbox, bool offline, struct err *err)
{
	_cleanup_(freep) char *bwrap = program_find(bwrap_name, "/usr/bin");
	_cleanup_(closep) int filter = -1;

	if (!bwrap)
		return err_set(err, ERR_INVALID, "there is no bwrap: install bubblewrap");
	buf_release(&sandbox->filter);
	sandbox->filter = (struct buf)BUF_INIT(SYSCALL_FILTER_LIMIT);
	if (syscall_filter_build(&sandbox->filter, err) < 0 ||
		memory_file("system call filter", &sandbox->filter, &filter, err) < 0)
		return -1;
	if (bwrap_try(sandbox, bwrap, filter, offline) != 0)
		return err_set(err, ERR_INVALID,
			"%s can't make a sandbox here: allow user namespaces (sysctl kernel.unprivileged_userns_clone, "
			"kernel.apparmor_restrict_unprivileged_userns, a container's seccomp profile)",
			bwrap);
	sandbox->bwrap = bwrap;
	bwrap = NULL;
	sandbox->program = process_helper("runyard-sandbox");
	return 0;
}

void sandbox_release(struct sandbox *sandbox)
{
	etc_free(sandbox->etc);
	free(sandbox->bwrap);
	free(sandbox->program);
	buf_release(&sandbox->filter);
	sandbox->etc = NULL;
	sandbox->bwrap = sandbox->program = NULL;
}
