/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/exec/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/exec/tree.h"

int beneath_open(int folder, const char *path, int flags, mode_t mode)
{
	struct open_how how = {
		.flags = (uint64_t)(flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK),
		.mode = flags & O_CREAT ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	struct stat info;
	int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof(how));

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) == 0 && (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

DIR *beneath_list(int folder, const char *path)
{
	int fd = beneath_open(folder, path, O_RDONLY | O_DIRECTORY, 0);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

void list_closep(DIR **list)
{
	if (*list)
		closedir(*list);
}

const char *list_next(DIR *list)
{
	const struct dirent *entry;

	while ((entry = readdir(list)))
		if (!text_equal(entry->d_name, ".") && !text_equal(entry->d_name, ".."))
			return entry->d_name;
	return NULL;
}

int folder_make(const char *path, bool emptied, struct err *err)
{
	int fd = -1;

	if ((!emptied || beneath_remove(AT_FDCWD, path) == 0) && (mkdir(path, 0700) == 0 || errno == EEXIST))
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? err_errno(err, path) : fd;
}

int beneath_mkdirs(int folder, const char *path)
{
	_cleanup_(freep) char *copy = mem_text(path);
	_cleanup_(closep) int at = fcntl(folder, F_DUPFD_CLOEXEC, 3);
	char *rest = copy, *part;

	while ((part = strsep(&rest, "/"))) {
		int next;

		if (!*part)
			continue;
		if (mkdirat(at, part, 0755) < 0 && errno != EEXIST)
			return -1;
		next = beneath_open(at, part, O_RDONLY | O_DIRECTORY, 0);
		if (next < 0)
			return -1;
		close(at);
		at = next;
	}
	return 0;
}

int beneath_parents(int folder, const char *path)
{
	_cleanup_(freep) char *copy = mem_text(path);
	char *slash = strrchr(copy, '/');

	if (!slash)
		return 0;
	*slash = '\0';
	return beneath_mkdirs(folder, copy);
}

int beneath_read(int folder, const char *path, struct buf *ret_bytes, struct err *err)
{
	_cleanup_(closep) int fd = beneath_open(folder, path, O_RDONLY, 0);
	struct stat info;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "there is no %s", path);
	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0 && (size_t)info.st_size > ret_bytes->limit)
		return err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes", path, ret_bytes->limit);
	if (fd >= 0 && buf_read(ret_bytes, fd) == 0)
		return 0;
	if (errno == EFBIG)
		return err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes", path, ret_bytes->limit);
	return err_errno(err, path);
}

int beneath_write(int folder, const char *path, mode_t mode, struct bytes bytes, struct err *err)
{
	_cleanup_(closep) int fd = -1;

	if (beneath_parents(folder, path) < 0 || beneath_remove(folder, path) < 0)
		return err_errno(err, path);
	fd = beneath_open(folder, path, O_WRONLY | O_CREAT | O_EXCL, mode);
	if (fd < 0 || write_fully(fd, bytes.data, bytes.len) < 0)
		return err_errno(err, path);
	return 0;
}

/* Removes a file or an empty folder. A folder that is not empty is entered. */
static enum tree_step remove_entry(void *data, int folder, const char *name)
{
	(void)data;
	if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
		return TREE_NEXT;
	if (errno != EISDIR && errno != EPERM)
		return TREE_STOP;
	if (unlinkat(folder, name, AT_REMOVEDIR) == 0)
		return TREE_NEXT;
	return errno == ENOTEMPTY || errno == EEXIST ? TREE_ENTER : TREE_STOP;
}

int beneath_remove(int folder, const char *name)
{
	const struct tree_visit visit = {.entry = remove_entry, .removes = true};

	if (unlinkat(folder, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	if (unlinkat(folder, name, AT_REMOVEDIR) == 0)
		return 0;
	if (tree_walk(folder, name, &visit) < 0)
		return -1;
	return unlinkat(folder, name, AT_REMOVEDIR);
}
