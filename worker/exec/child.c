/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/err.h"
#include "common/loop.h"

enum { INFO_FD = 4, GROUP_POLL_MS = 5 };

struct child {
	struct loop *loop;
	int pid;
	int status;
	bool reaped;
	bool sandboxed;
	int info;   /* read end: bwrap says there who is the first process inside */
	int inside; /* pidfd of that process, or -1 */
	bool informed;
	bool emptied; /* nothing is left of it */
	struct loop_timer timer;
	child_fn fn;
	void *data;
};

int child_pid(const struct child *child)
{
	return child->pid;
}

void child_interrupt(struct child *child)
{
	if (!child->reaped)
		kill(-child->pid, SIGINT);
}

/* Kills the group. The sandbox's first process is a member, and the rest of its namespace dies with it. */
void child_kill(struct child *child)
{
	kill(-child->pid, SIGKILL);
}

/* ---- the end ---- */

static void child_free(struct child *child)
{
	siginfo_t info;

	/* bwrap's own child, which it leaves to whoever is above it (main.c, subreaper). */
	if (child->inside >= 0)
		waitid(P_PIDFD, (id_t)child->inside, &info, WEXITED | WNOHANG);
	loop_timer_clear(child->loop, &child->timer);
	loop_unwatch(child->loop, child->info);
	loop_unwatch(child->loop, child->inside);
	closep(&child->info);
	closep(&child->inside);
	free(child);
}

static void child_finish(struct child *child)
{
	struct child ended = *child;

	child_free(child);
	ended.fn(ended.data, ended.status);
}

void child_abandon(struct child *child)
{
	if (!child)
		return;
	child_kill(child);
	loop_child_forget(child->loop, child->pid);
	if (!child->reaped)
		waitpid(child->pid, NULL, 0);
	child_free(child);
}

static void child_check(struct child *child)
{
	if (child->reaped && child->emptied)
		child_finish(child);
}

/* Without a sandbox there is only the process group to go by: what is left of it is killed and waited for. */
static void group_check(void *data)
{
	struct child *child = data;

	while (waitpid(-child->pid, NULL, WNOHANG) > 0)
		; /* those that lost their parent are this process's own now (main.c, subreaper) */
	if (kill(-child->pid, SIGKILL) < 0 && errno == ESRCH) {
		child->emptied = true;
		child_check(child);
		return;
	}
	loop_timer_set(child->loop, &child->timer, GROUP_POLL_MS, group_check, child);
}

static void inside_ended(void *data, int fd, unsigned events)
{
	struct child *child = data;

	(void)events;
	loop_unwatch(child->loop, fd);
	child->emptied = true;
	child_check(child);
}

/* {"child-pid": 123, ...}, in several writes: the process with number 1 inside. Its pidfd becomes readable when the
 * kernel has taken down the whole namespace. The pipe stays open, since bwrap would die of writing the rest into a
 * closed one. */
static void info_read(struct child *child)
{
	static const char name[] = "\"child-pid\":";
	char text[1024];
	ssize_t len = read(child->info, text, sizeof(text) - 1);
	const char *at;
	int pid;

	text[len > 0 ? len : 0] = '\0';
	at = strstr(text, name);
	pid = at ? (int)strtol(at + sizeof(name) - 1, NULL, 10) : 0;
	child->informed = true;
	loop_unwatch(child->loop, child->info);
	child->inside = pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (child->inside < 0)
		child->emptied = true; /* it never began, or it is gone already */
	else
		loop_watch(child->loop, child->inside, EPOLLIN, inside_ended, child);
}

static void info_came(void *data, int fd, unsigned events)
{
	struct child *child = data;

	(void)fd;
	(void)events;
	info_read(child);
	child_check(child);
}

static void child_reaped(void *data, int pid, int status)
{
	struct child *child = data;

	(void)pid;
	child->reaped = true;
	child->status = status;
	if (!child->sandboxed) {
		group_check(child);
		return;
	}
	if (!child->informed)
		info_read(child);
	child_check(child);
}

/* ---- the start ---- */

static void add_fds(posix_spawn_file_actions_t *actions, const struct child_spec *spec, int info)
{
	for (int i = 0; i < CHILD_MOST_FDS; i++) {
		if (spec->fds[i] >= 0)
			posix_spawn_file_actions_adddup2(actions, spec->fds[i], i);
		else if (i <= STDERR_FILENO)
			posix_spawn_file_actions_addopen(actions, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
	}
	if (info >= 0)
		posix_spawn_file_actions_adddup2(actions, info, INFO_FD);
	/* Libraries open sockets that are not closed at an exec: the scheduler's answers to other jobs among them. */
	posix_spawn_file_actions_addclosefrom_np(actions, info >= 0 ? INFO_FD + 1 : spec->fds[3] >= 0 ? 4 : 3);
	posix_spawn_file_actions_addchdir_np(actions, spec->folder);
}

/* All signals as they are by default, but for SIGINT: the worker ignores it, and the sandbox's own processes inherit
 * that, so that an interrupt of the group reaches terraform (which takes it again) and ends nothing around it. */
static void set_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, fresh;

	sigemptyset(&none);
	sigfillset(&fresh);
	sigdelset(&fresh, SIGINT);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &fresh);
	posix_spawnattr_setpgroup(attributes, 0);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

static int spawn(const struct child_spec *spec, int info, int *ret_pid, struct err *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int code;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	add_fds(&actions, spec, info);
	set_signals(&attributes);
	code = posix_spawn(ret_pid, spec->argv[0], &actions, &attributes, spec->argv, spec->env);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	if (code != 0)
		return err_set(err, ERR_INTERNAL, "%s can't be started: %s", spec->argv[0], strerror(code));
	return 0;
}

static int child_watch(struct child *child, struct err *err)
{
	if (loop_child(child->loop, child->pid, child_reaped, child, err) < 0) {
		child_kill(child);
		waitpid(child->pid, NULL, 0);
		closep(&child->info);
		free(child);
		return -1;
	}
	if (child->info >= 0)
		loop_watch(child->loop, child->info, EPOLLIN, info_came, child);
	return 0;
}

int child_start(struct loop *loop, const struct child_spec *spec, child_fn fn, void *data, struct child **ret_child,
	struct err *err)
{
	_cleanup_(closep) int info_write = -1;
	struct child child = {
		.loop = loop, .info = -1, .inside = -1, .sandboxed = spec->sandboxed, .fn = fn, .data = data};
	int pipe_fds[2];

	if (spec->sandboxed) {
		if (pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK) < 0)
			return err_errno(err, "pipe");
		child.info = pipe_fds[0];
		info_write = fcntl(pipe_fds[1], F_DUPFD_CLOEXEC, INFO_FD + 1);
		close(pipe_fds[1]);
	}
	if (spawn(spec, info_write, &child.pid, err) < 0) {
		closep(&child.info);
		return -1;
	}
	*ret_child = mem_new(1, sizeof(child));
	**ret_child = child;
	return child_watch(*ret_child, err);
}
