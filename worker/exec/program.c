/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/program.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/err.h"

static char *resolved(const char *path)
{
	return access(path, X_OK) == 0 ? realpath(path, NULL) : NULL;
}

char *program_find(const char *wanted, const char *folder)
{
	_cleanup_(freep) char *folders = mem_printf("%s:%s", text_or_empty(getenv("PATH")), folder);
	char *rest = folders, *at, *found = NULL;

	if (strchr(wanted, '/'))
		return resolved(wanted);
	while (!found && (at = strsep(&rest, ":"))) {
		_cleanup_(freep) char *path = mem_printf("%s/%s", at, wanted);

		if (*at == '/')
			found = resolved(path);
	}
	return found;
}

int program_spawn(char *const *argv, struct program_fds fds, struct err *err)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char *const env[] = {NULL};
	sigset_t none;
	int pid, code;

	sigemptyset(&none);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
	posix_spawn_file_actions_adddup2(&actions, STDIN_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fds.errors < 0 ? STDIN_FILENO : fds.errors, STDERR_FILENO);
	if (fds.third >= 0)
		posix_spawn_file_actions_adddup2(&actions, fds.third, 3);
	if (fds.fourth >= 0)
		posix_spawn_file_actions_adddup2(&actions, fds.fourth, 4);
	if (fds.third < 0)
		posix_spawn_file_actions_addclose(&actions, 3);
	posix_spawn_file_actions_addclosefrom_np(&actions, fds.fourth < 0 ? 4 : 5);
	code = posix_spawn(&pid, argv[0], &actions, &attributes, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return code == 0 ? pid : err_set(err, ERR_INTERNAL, "%s can't be started: %s", argv[0], strerror(code));
}
