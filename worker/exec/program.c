/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/program.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"

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

char *program_helper(const char *name)
{
	char folder[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
	char *beside;

	folder[len > 0 ? len : 0] = '\0';
	if (strrchr(folder, '/'))
		strrchr(folder, '/')[1] = '\0';
	beside = mem_printf("%s%s", folder, name);
	if (access(beside, X_OK) == 0)
		return beside;
	free(beside);
	return mem_printf("%s" HELPERS "/%s", folder, name);
}
