/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/upload/reserve.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "worker/upload/leftover.h"

static char *errored_path(const char *folder)
{
	return mem_printf("root/%s/" LEFTOVER_ERRORED, folder);
}

int reserve_name(const struct workdir *dir, const char *folder, struct err *err)
{
	_cleanup_(freep) char *path = errored_path(folder);

	return beneath_write(dir->top, path, 0600, text_bytes(""), err);
}

static off_t reserve_wanted(const struct workdir *dir)
{
	_cleanup_(closep) int state = beneath_open(dir->root, WORKDIR_STATE, O_RDONLY, 0);
	struct stat info;

	if (state < 0 || fstat(state, &info) < 0)
		return RESERVE_LEAST;
	return RESERVE_LEAST + 2 * info.st_size;
}

static off_t reserve_size(const struct workdir *dir, int64_t disk)
{
	off_t wanted = reserve_wanted(dir);

	return disk > 0 && wanted > disk / 8 ? disk / 8 : wanted;
}

/* Allocates blocks beyond the end of the file, which stays empty. */
static int allocate(const struct workdir *dir, const char *path, off_t size, struct err *err)
{
	_cleanup_(closep) int fd = beneath_open(dir->top, path, O_WRONLY | O_CREAT, 0600);

	if (fd < 0)
		return err_errno(err, path);
	if (fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, size) == 0 || errno == EOPNOTSUPP || errno == ENOSYS)
		return 0;
	return err_set(err, ERR_UNAVAILABLE, "%lld MiB: %s", (long long)(size >> 20), strerror(errno));
}

int reserve_allocate(const struct workdir *dir, const char *folder, int64_t disk, struct err *err)
{
	_cleanup_(freep) char *path = errored_path(folder);
	off_t size = reserve_size(dir, disk);

	return allocate(dir, path, size, err) < 0 ? -1 : allocate(dir, LEFTOVER_PART, size, err);
}
