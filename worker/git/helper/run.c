/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/helper/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "worker/git/helper/helper.h"

enum { ENV_MAX = 160, CHUNK = 64 * 1024 };

/* ---- the environment ---- */

struct environment {
	char **items;
	size_t count;
	int settings; /* of git's configuration */
};

static void add(struct environment *env, const char *name, const char *value)
{
	if (env->count + 1 < ENV_MAX)
		env->items[env->count++] = mem_printf("%s=%s", name, value);
}

/* A setting of git that every git process of the job gets, and that no file of a repository overrides. */
static void set(struct environment *env, const char *name, const char *value)
{
	_cleanup_(freep) char *key = mem_printf("GIT_CONFIG_KEY_%d", env->settings);
	_cleanup_(freep) char *place = mem_printf("GIT_CONFIG_VALUE_%d", env->settings);

	add(env, key, name);
	add(env, place, value);
	env->settings++;
}

static const char *const fixed[][2] = {
	{"PATH", "/usr/local/bin:/usr/bin:/bin"},
	{"LC_ALL", "C"}, /* failure.c reads its messages */
	{"SHELL", "/bin/sh"},
	{"GIT_TERMINAL_PROMPT", "0"},
	{"GIT_CONFIG_NOSYSTEM", "1"},
	{"GIT_CONFIG_GLOBAL", "/dev/null"},
	{"GIT_ATTR_NOSYSTEM", "1"},
	{"GIT_NO_REPLACE_OBJECTS", "1"},
	{"GIT_LFS_SKIP_SMUDGE", "1"},
	{"GIT_SSH_VARIANT", "ssh"},
	{"SSH_ASKPASS_REQUIRE", "never"},
};

static const char *const settings[][2] = {
	{"core.hooksPath", "/dev/null"},
	{"core.attributesFile", "/dev/null"},
	{"core.excludesFile", "/dev/null"},
	{"core.fsmonitor", "false"},
	{"core.symlinks", "true"},
	{"core.autocrlf", "false"},
	{"transfer.fsckObjects", "true"},
	/* Old commits of ordinary repositories have these; none of them is dangerous. */
	{"fetch.fsck.zeroPaddedFilemode", "ignore"},
	{"fetch.fsck.badTimezone", "ignore"},
	{"fetch.fsck.missingSpaceBeforeDate", "ignore"},
	{"http.followRedirects", "false"},
	{"http.lowSpeedLimit", "100"},
	{"http.lowSpeedTime", "60"},
	{"protocol.allow", "never"},
	{"credential.helper", ""},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"submodule.recurse", "false"},
	{"advice.detachedHead", "false"},
	{"init.defaultBranch", "main"},
	{"safe.directory", "*"},
};

/* https always; ssh if there is a key, for submodules; another scheme only if the connection's own is that. */
static void allow_schemes(const struct work *work, struct environment *env)
{
	set(env, "protocol.https.allow", "always");
	if (*record_value(work->order, "ssh-key"))
		set(env, "protocol.ssh.allow", "always");
	if (work->remote.scheme != REMOTE_HTTPS) {
		_cleanup_(freep) char *name = mem_printf("protocol.%s.allow", remote_scheme_name(work->remote.scheme));

		set(env, name, "always");
	}
}

static void add_proxy(const struct work *work, struct environment *env)
{
	_cleanup_(freep) char *port = mem_printf("%d", work->proxy_port);
	_cleanup_(freep) char *url = mem_printf("socks5h://127.0.0.1:%d", work->proxy_port);

	add(env, HELPER_PROXY, port);
	set(env, "http.proxy", url);
	set(env, "core.gitProxy", work->self);
}

static int write_file(const char *path, const char *text, mode_t mode)
{
	_cleanup_(closep) int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	size_t len = strlen(text);

	if (fd >= 0 && write(fd, text, len) == (ssize_t)len)
		return 0;
	fprintf(stderr, "%s can't be written: %s\n", path, strerror(errno));
	return -1;
}

/* The hosts whose keys are pinned, for the configuration's Host line: the first field of each line. */
static void pinned_hosts(const char *host_keys, struct buf *out)
{
	while (*host_keys) {
		size_t len = strcspn(host_keys, " \n"), at = *host_keys == '[';
		size_t end = at ? strcspn(host_keys, "]") : strcspn(host_keys, " ,\n");

		if (end <= len && end > at)
			(void)buf_printf(out, " %.*s", (int)(end - at), host_keys + at);
		host_keys += strcspn(host_keys, "\n");
		host_keys += *host_keys == '\n';
	}
}

/* A host with a pinned key must show it. The key of a host that was never seen is noted and reported. */
static int ssh_configure(const struct work *work, const char *home)
{
	_cleanup_(freep) char *key = mem_printf("%s/key", home), *known = mem_printf("%s/known_hosts", home);
	_cleanup_(freep) char *path = mem_printf("%s/ssh_config", home);
	_cleanup_(buf_release) struct buf hosts = BUF_INIT(64 * 1024), text = BUF_INIT(80 * 1024);
	const char *private_key = record_value(work->order, "ssh-key");
	const char *host_keys = record_value(work->order, "host-keys");
	size_t len = strlen(private_key);
	_cleanup_(freep) char *ended = mem_printf("%s%s", private_key, len && private_key[len - 1] == '\n' ? "" : "\n");

	pinned_hosts(host_keys, &hosts);
	if (hosts.len && buf_printf(&text, "Host%s\n\tStrictHostKeyChecking yes\n", buf_str(&hosts)) < 0)
		return -1;
	if (buf_printf(&text,
		    "Host *\n\tStrictHostKeyChecking accept-new\n\tUserKnownHostsFile %s\n"
		    "\tGlobalKnownHostsFile /dev/null\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tIdentityAgent none\n"
		    "\tBatchMode yes\n\tHashKnownHosts no\n\tUpdateHostKeys no\n\tCheckHostIP no\n"
		    "\tForwardAgent no\n\tForwardX11 no\n\tClearAllForwardings yes\n\tConnectTimeout 30\n"
		    "\tServerAliveInterval 15\n\tPreferredAuthentications publickey\n\tProxyCommand %s %%h %%p\n",
		    known, key, work->self) < 0)
		return -1;
	return write_file(key, ended, 0600) < 0 || write_file(known, host_keys, 0600) < 0 ||
			write_file(path, buf_str(&text), 0600) < 0
		? -1
		: 0;
}

static int credential_open(struct work *work)
{
	const char *user = record_value(work->order, "user"), *password = record_value(work->order, "password");
	const char *scheme = remote_scheme_name(work->remote.scheme);
	_cleanup_(freep) char *url = mem_text(record_value(work->order, "url"));
	char *server = strstr(url, "://") + 3;

	if (!*password || strpbrk(user, "\n") || strpbrk(password, "\n"))
		return 0;
	/* git's prompt has the authority as the URL has it. */
	server[strcspn(server, "/")] = '\0';
	if (strrchr(server, '@'))
		server = strrchr(server, '@') + 1;
	work->credential = memfd_create("credential", 0);
	if (work->credential < 0 ||
		dprintf(work->credential, "%s://%s\n%s\n%s\n", scheme, server, user, password) < 0) {
		fprintf(stderr, "no memory for the credential\n");
		return -1;
	}
	return 0;
}

int work_environment(struct work *work)
{
	struct environment env = {.items = mem_new(ENV_MAX, sizeof(char *))};
	const char *folder = record_value(work->order, "folder"), *ca = record_value(work->order, "ca");
	_cleanup_(freep) char *home = mem_printf("%s/home", folder);
	_cleanup_(freep) char *ssh = mem_printf("ssh -F %s/ssh_config", home);
	_cleanup_(freep) char *count = NULL;
	char number[16];

	work->env = env.items;
	mkdir(home, 0700);
	if (credential_open(work) < 0 || ssh_configure(work, home) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		add(&env, fixed[i][0], fixed[i][1]);
	add(&env, "HOME", home);
	add(&env, "GIT_ASKPASS", work->self);
	add(&env, "GIT_SSH_COMMAND", ssh);
	snprintf(number, sizeof(number), "%d", work->credential);
	add(&env, HELPER_CREDENTIAL, number);
	for (size_t i = 0; i < ARRAY_LEN(settings); i++)
		set(&env, settings[i][0], settings[i][1]);
	if (*ca)
		set(&env, "http.sslCAInfo", ca);
	allow_schemes(work, &env);
	add_proxy(work, &env);
	count = mem_printf("%d", env.settings);
	add(&env, "GIT_CONFIG_COUNT", count);
	return 0;
}

void work_release(struct work *work)
{
	for (char **at = work->env; at && *at; at++)
		free(*at);
	free(work->env);
	closep(&work->credential);
	buf_release(&work->result);
	buf_release(&work->errors);
}

/* ---- commands ---- */

struct outputs {
	int out, errors; /* read ends */
};

static int git_start(
	struct work *work, const char *folder, const char *const *args, struct outputs *ret_outputs, pid_t *ret_pid)
{
	const char *argv[GIT_ARGS] = {"git"};
	posix_spawn_file_actions_t actions;
	int out[2], errors[2], code;

	for (size_t i = 0; args[i] && i + 2 < GIT_ARGS; i++)
		argv[i + 1] = args[i];
	if (pipe2(out, O_CLOEXEC) < 0 || pipe2(errors, O_CLOEXEC) < 0)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out[1], 1);
	posix_spawn_file_actions_adddup2(&actions, errors[1], 2);
	posix_spawn_file_actions_addchdir_np(&actions, folder);
	code = posix_spawnp(ret_pid, "git", &actions, NULL, (char *const *)argv, work->env);
	posix_spawn_file_actions_destroy(&actions);
	close(out[1]);
	close(errors[1]);
	*ret_outputs = (struct outputs){out[0], errors[0]};
	if (code == 0)
		return 0;
	fprintf(stderr, "git can't be started: %s\n", strerror(code));
	close(out[0]);
	close(errors[0]);
	return -1;
}

/* Reads what there is; false at the end. What does not fit is dropped: *ret_over. */
static bool drain(int fd, struct buf *into, bool *ret_over)
{
	char chunk[CHUNK];
	ssize_t got = read(fd, chunk, sizeof(chunk));

	if (got < 0)
		return errno == EINTR;
	if (into && buf_append(into, chunk, (size_t)got) < 0)
		*ret_over = true;
	return got > 0;
}

static bool outputs_read(struct outputs *outputs, struct buf *out, struct buf *errors)
{
	struct pollfd fds[] = {{.fd = outputs->out, .events = POLLIN}, {.fd = outputs->errors, .events = POLLIN}};
	bool over = false, ignored = false;

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, ARRAY_LEN(fds), -1) < 0)
			continue;
		if (fds[0].fd >= 0 && fds[0].revents && !drain(fds[0].fd, out, &over))
			fds[0].fd = -1;
		if (fds[1].fd >= 0 && fds[1].revents && !drain(fds[1].fd, errors, &ignored))
			fds[1].fd = -1;
	}
	close(outputs->out);
	close(outputs->errors);
	return !over;
}

int git_run_list(struct work *work, const char *folder, struct buf *out, const char *const *args)
{
	struct outputs outputs;
	int status = 0;
	bool whole;
	pid_t pid;

	buf_reset(&work->errors);
	if (git_start(work, folder, args, &outputs, &pid) < 0)
		return -1;
	whole = outputs_read(&outputs, out, &work->errors);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!whole) {
		buf_reset(&work->errors);
		(void)buf_text(&work->errors, "fatal: more output than fits\n");
	}
	return whole && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int git_run(struct work *work, const char *folder, struct buf *out, ...)
{
	const char *args[GIT_ARGS] = {NULL};
	size_t count = 0;
	va_list list;

	va_start(list, out);
	while (count + 1 < GIT_ARGS && (args[count] = va_arg(list, const char *)))
		count++;
	va_end(list);
	return git_run_list(work, folder, out, args);
}
