/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/exec/etc.h"

static const char bwrap_path[] = "/usr/bin/bwrap";
static const char setpriv_path[] = "/usr/bin/setpriv";
static const char prlimit_path[] = "/usr/bin/prlimit";

static const char inside_root[] = "/job";
static const char inside_store[] = "/providers";
static const char inside_engine[] = "/engine/";
static const char inside_cli_config[] = "/engine/cli.tfrc";

enum { ARGS_LIMIT = 8 * 1024 * 1024 };

/* Namespaces and what is always there. --unshare-user-try: where user namespaces are allowed, root inside is nobody
 * special outside. */
static const char *const always[] = {
	"--unshare-user-try",
	"--unshare-pid",
	"--unshare-ipc",
	"--unshare-uts",
	"--cap-drop",
	"ALL",
	"--die-with-parent",
	"--info-fd",
	"4",
	"--hostname",
	"runyard",
	"--proc",
	"/proc",
	"--dev",
	"/dev",
	"--tmpfs",
	"/tmp",
	"--ro-bind",
	"/usr",
	"/usr",
};

/* Links to /usr on merged systems, folders of their own elsewhere. */
static const char *const system_folders[] = {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"};

const char *sandbox_store(const struct sandbox *sandbox)
{
	return sandbox->bwrap ? inside_store : sandbox->store;
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
	texts_add(args, "%s", kind);
	texts_add(args, "%s", from);
	texts_add(args, "%s", to);
}

static void add_system(struct texts *args)
{
	char target[256];

	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		texts_add(args, "%s", always[i]);
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
	if (sandbox->mirror)
		add_bind(args, "--ro-bind", sandbox->mirror, sandbox->mirror);
}

static void add_job(struct texts *args, const struct sandbox *sandbox, const struct sandbox_job *job)
{
	_cleanup_(freep) char *engine = mem_printf("%s%s", inside_engine, base_name(job->engine));

	add_bind(args, "--ro-bind", sandbox->store, inside_store);
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

/* The arguments in a file in memory, each ended by a zero byte, as --args wants them. */
static int args_file(const struct texts *args, int *ret_fd, struct err *err)
{
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(ARGS_LIMIT);
	int fd;

	for (size_t i = 0; i < args->count; i++)
		if (buf_append(&bytes, args->items[i], strlen(args->items[i]) + 1) < 0)
			return err_set(err, ERR_TOO_LARGE, "the variables are too large to be handed over");
	fd = memfd_create("arguments", MFD_CLOEXEC);
	if (fd < 0 || write_fully(fd, bytes.data, bytes.len) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
		closep(&fd);
		return err_errno(err, "the sandbox's arguments");
	}
	*ret_fd = fd;
	return 0;
}

static void add_limits(struct texts *argv, const struct sandbox_command *command)
{
	if (command->memory <= 0)
		return;
	texts_add(argv, "%s", prlimit_path);
	texts_add(argv, "--as=%lld", command->memory);
	texts_add(argv, "--");
}

static int prepare_bwrap(const struct sandbox *sandbox, const struct sandbox_job *job,
	const struct sandbox_command *command, struct sandbox_start *start, struct err *err)
{
	_cleanup_(texts_release) struct texts args = {.items = NULL};

	add_system(&args);
	add_etc(&args, sandbox->etc);
	add_job(&args, sandbox, job);
	add_binds(&args, sandbox);
	if (command->offline)
		texts_add(&args, "--unshare-net");
	texts_add(&args, "--chdir");
	texts_add(&args, "%s", command->folder);
	add_environment(&args, command->env);
	if (args_file(&args, &start->args_fd, err) < 0)
		return -1;
	texts_add(&start->argv, "%s", bwrap_path);
	texts_add(&start->argv, "--args");
	texts_add(&start->argv, "3");
	texts_add(&start->argv, "--");
	add_limits(&start->argv, command);
	texts_add(&start->argv, "%s%s", inside_engine, base_name(job->engine));
	start->folder = "/";
	start->sandboxed = true;
	return 0;
}

/* ---- none ---- */

static void prepare_none(
	const struct sandbox_job *job, const struct sandbox_command *command, struct sandbox_start *start)
{
	texts_add(&start->argv, "%s", setpriv_path);
	texts_add(&start->argv, "--pdeathsig");
	texts_add(&start->argv, "KILL");
	texts_add(&start->argv, "--");
	add_limits(&start->argv, command);
	texts_add(&start->argv, "%s", job->engine);
	for (size_t i = 0; i < command->env->count; i++)
		texts_add(&start->env, "%s", command->env->items[i]);
	start->folder = command->folder;
}

int sandbox_prepare(const struct sandbox *sandbox, const struct sandbox_job *job, const struct sandbox_command *command,
	struct sandbox_start *ret_start, struct err *err)
{
	*ret_start = (struct sandbox_start){.args_fd = -1};
	if (!sandbox->bwrap) {
		prepare_none(job, command, ret_start);
	} else if (prepare_bwrap(sandbox, job, command, ret_start, err) < 0) {
		sandbox_start_release(ret_start);
		return -1;
	}
	for (size_t i = 0; i < command->args->count; i++)
		texts_add(&ret_start->argv, "%s", command->args->items[i]);
	return 0;
}

void sandbox_start_release(struct sandbox_start *start)
{
	texts_release(&start->argv);
	texts_release(&start->env);
	closep(&start->args_fd);
	start->args_fd = -1;
}

int sandbox_check(const struct sandbox *sandbox, struct err *err)
{
	char *const argv[] = {(char *)bwrap_path, "--as-pid-1", "--unshare-user-try", "--unshare-pid", "--ro-bind", "/",
		"/", "--proc", "/proc", "--dev", "/dev", "--", "/bin/true", NULL};
	char *const env[] = {NULL};
	int pid, status = 0;

	if (!sandbox->bwrap)
		return 0;
	if (posix_spawn(&pid, bwrap_path, NULL, NULL, argv, env) != 0)
		return err_set(err, ERR_INVALID, "%s can't be started: install bubblewrap, or choose --sandbox none",
			bwrap_path);
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		"bwrap can't make a sandbox here: allow user namespaces (sysctl kernel.unprivileged_userns_clone, a "
		"container's "
		"seccomp profile), or choose --sandbox none");
}
