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

static int read_fully(int fd, struct buf *out)
{
	char chunk[65536];
	ssize_t got;

	while ((got = read(fd, chunk, sizeof(chunk))) > 0) {
		if (buf_append(out, chunk, (size_t)got) < 0) {
			errno = EFBIG;
			return -1;
		}
	}
	return got < 0 ? -1 : 0;
}

int beneath_read(int folder, const char *path, struct buf *ret_bytes, struct err *err)
{
	_cleanup_(closep) int fd = beneath_open(folder, path, O_RDONLY, 0);
	struct stat info;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "there is no %s", path);
	if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size > 0 && (size_t)info.st_size > ret_bytes->limit)
		return err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes", path, ret_bytes->limit);
	if (fd >= 0 && read_fully(fd, ret_bytes) == 0)
		return 0;
	if (errno == EFBIG)
		return err_set(err, ERR_TOO_LARGE, "%s has more than %zu bytes", path, ret_bytes->limit);
	return err_errno(err, path);
}

int write_fully(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t done = write(fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return -1;
		at += done;
		len -= (size_t)done;
	}
	return 0;
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
