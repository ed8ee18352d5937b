/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/registry/mirror/within.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

int within_open(int folder, const char *path, struct stat *ret_info)
{
	/* O_NONBLOCK: a pipe must not block. */
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	struct stat info;
	int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) < 0 || !(S_ISREG(info.st_mode) || S_ISDIR(info.st_mode))) {
		close(fd);
		return -1;
	}
	if (ret_info)
		*ret_info = info;
	return fd;
}

DIR *within_list(int folder, const char *path)
{
	int fd = within_open(folder, path, NULL);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

void within_closep(DIR **list)
{
	if (*list)
		closedir(*list);
}

const char *within_next(DIR *list)
{
	const struct dirent *entry;

	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.')
			return entry->d_name;
	return NULL;
}
