/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/pointers.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "worker/exec/tree.h"

enum { POINTER_MAX = 1024 };

static const char start[] = "version https://git-lfs.github.com/spec/";

bool pointer_begins(const char *bytes, size_t len)
{
	return len >= sizeof(start) - 1 && !memcmp(bytes, start, sizeof(start) - 1);
}

static bool is_pointer(int folder, const char *name)
{
	_cleanup_(closep) int fd = beneath_open(folder, name, O_RDONLY, 0);
	char bytes[sizeof(start)];
	ssize_t len = fd < 0 ? -1 : read(fd, bytes, sizeof(bytes));

	return len > 0 && pointer_begins(bytes, (size_t)len);
}

/* The folder's path within the configuration, with a slash at its end, or "". */
static void folder_shown(int folder, char ret_path[PATH_MAX])
{
	_cleanup_(freep) char *link = mem_printf("/proc/self/fd/%d", folder);
	char path[PATH_MAX];
	ssize_t len = readlink(link, path, sizeof(path) - 1);
	const char *below;

	path[len > 0 ? len : 0] = '\0';
	below = strstr(path, "/root/config/");
	snprintf(ret_path, PATH_MAX, "%s%s", below ? below + strlen("/root/config/") : "", below ? "/" : "");
}

static enum tree_step entry_look(void *data, int folder, const char *name)
{
	struct err *err = data;
	char path[PATH_MAX];
	struct stat info;

	if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return TREE_NEXT;
	if (S_ISDIR(info.st_mode))
		return TREE_ENTER;
	if (!S_ISREG(info.st_mode) || info.st_size > POINTER_MAX || !is_pointer(folder, name))
		return TREE_NEXT;
	folder_shown(folder, path);
	err_set(err, ERR_INVALID,
		"%.200s%.100s is a pointer of Git LFS: the file itself is not in the repository, and is not fetched.",
		path, name);
	return TREE_STOP;
}

int pointers_refuse(int parent, const char *name, struct err *err)
{
	struct err found = ERR_INIT;
	const struct tree_visit visit = {.entry = entry_look, .data = &found};

	tree_walk(parent, name, &visit);
	if (found.kind == ERR_NONE)
		return 0;
	*err = found;
	return -1;
}
