/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/measure.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"

enum { DEPTH_MOST = 100 };

static int64_t measure(int parent, const char *name, dev_t device, int depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	int64_t bytes = 0;

	if (!list) {
		closep(&fd);
		return 0;
	}
	while ((entry = readdir(list))) {
		struct stat info;

		if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, "..") ||
			fstatat(dirfd(list), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0 || info.st_dev != device)
			continue;
		bytes += (int64_t)info.st_blocks * 512;
		if (S_ISDIR(info.st_mode) && depth < DEPTH_MOST)
			bytes += measure(dirfd(list), entry->d_name, device, depth + 1);
	}
	closedir(list);
	return bytes;
}

int64_t measure_folder(int folder)
{
	struct stat info;

	return fstat(folder, &info) < 0 ? 0 : measure(folder, ".", info.st_dev, 0);
}
