/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/lag/lag_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

enum { PART_SIZE = 65536 };

extern char **environ;

static int process_start(char *const *command, int output, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t none;
	int error;

	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	error = posix_spawn(ret_pid, "/proc/self/exe", &actions, &attributes, command, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

/* Reads until the process has closed its output. */
static int output_read(int fd, int stop, struct buf *output, struct err *err)
{
	int64_t end_ms = clock_mono_ms() + LAG_PROCESS_SECONDS * 1000, left_ms;
	struct pollfd fds[] = {{.fd = fd, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
	char part[PART_SIZE];
	ssize_t count;

	while ((left_ms = end_ms - clock_mono_ms()) > 0 && output->len < LAG_OUTPUT_LIMIT - sizeof(part)) {
		if (poll(fds, 2, (int)left_ms) <= 0)
			continue;
		if (fds[1].revents)
			return err_set(err, ERR_UNAVAILABLE, "it was stopped");
		count = read(fd, part, sizeof(part));
		if (count == 0)
			return 0;
		if (count > 0)
			buf_append(output, part, (size_t)count);
	}
	return left_ms > 0 ? err_set(err, ERR_UNAVAILABLE, "it printed more than %d MiB", LAG_OUTPUT_LIMIT >> 20)
			   : err_set(err, ERR_UNAVAILABLE, "it took more than %d s", LAG_PROCESS_SECONDS);
}

/* Waits until the process has ended. */
static int process_check(pid_t pid, struct err *err)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status))
		return err_set(err, ERR_UNAVAILABLE, "it was ended by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	return WEXITSTATUS(status) ? err_set(err, ERR_UNAVAILABLE, "it exited with status %d", WEXITSTATUS(status)) : 0;
}

int lag_process_run(char *const *command, int stop, struct buf *output, struct err *err)
{
	struct err ignored = ERR_INIT;
	int fds[2], error, result;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_errno(err, "pipe");
	error = process_start(command, fds[1], &pid);
	close(fds[1]);
	if (error) {
		close(fds[0]);
		return err_set(err, ERR_UNAVAILABLE, "it can't be started: %s", strerror(error));
	}
	result = output_read(fds[0], stop, output, err);
	close(fds[0]);
	if (result == 0)
		return process_check(pid, err);
	kill(pid, SIGKILL);
	process_check(pid, &ignored);
	return result;
}
