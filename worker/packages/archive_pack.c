/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/err.h"
#include "worker/exec/beneath.h"

enum { CHUNK = 64 * 1024 };

struct packing {
	struct archive *archive;
	const struct archive_bounds *bounds;
	size_t files;
	size_t bytes;
	struct err *err;
};

static int pack_name(struct packing *packing, int folder, const char *name, const char *path);

static void packing_release(struct packing *packing)
{
	archive_write_free(packing->archive);
}

static void entry_freep(struct archive_entry **entry)
{
	archive_entry_free(*entry);
}

static int failed(struct packing *packing)
{
	if (archive_errno(packing->archive) == ENOMEM)
		mem_out();
	return err_set(packing->err, ERR_INTERNAL, "packing failed: %.200s",
		text_or_empty(archive_error_string(packing->archive)));
}

static int write_header(struct packing *packing, const char *path, const struct stat *info, const char *target)
{
	_cleanup_(entry_freep) struct archive_entry *entry = mem_check(archive_entry_new());

	archive_entry_set_pathname(entry, path);
	archive_entry_set_mode(entry, info->st_mode);
	if (target)
		archive_entry_set_symlink(entry, target);
	archive_entry_set_size(entry, S_ISREG(info->st_mode) ? info->st_size : 0);
	return archive_write_header(packing->archive, entry) == ARCHIVE_OK ? 0 : failed(packing);
}

static int pack_file(struct packing *packing, int folder, const char *name, const char *path, const struct stat *info)
{
	_cleanup_(closep) int fd = beneath_open(folder, name, O_RDONLY, 0);
	_cleanup_(freep) char *chunk = mem_new(1, CHUNK);
	ssize_t got;

	if (fd < 0)
		return err_errno(packing->err, path);
	packing->bytes += (size_t)info->st_size;
	if (packing->bytes > packing->bounds->bytes)
		return err_set(packing->err, ERR_TOO_LARGE, "more than %zu bytes to pack", packing->bounds->bytes);
	if (write_header(packing, path, info, NULL) < 0)
		return -1;
	while ((got = read(fd, chunk, CHUNK)) > 0)
		if (archive_write_data(packing->archive, chunk, (size_t)got) < 0)
			return failed(packing);
	return got < 0 ? err_errno(packing->err, path) : 0;
}

static int pack_link(struct packing *packing, int folder, const char *name, const char *path, const struct stat *info)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(folder, name, target, sizeof(target) - 1);

	if (len < 0)
		return err_errno(packing->err, path);
	target[len] = '\0';
	return write_header(packing, path, info, target);
}

static int pack_folder(struct packing *packing, int folder, const char *name, const char *path, const struct stat *info)
{
	_cleanup_(list_closep) DIR *list = beneath_list(folder, name);
	const char *entry;

	if (!list)
		return err_errno(packing->err, path);
	if (write_header(packing, path, info, NULL) < 0)
		return -1;
	while ((entry = list_next(list))) {
		_cleanup_(freep) char *below = mem_printf("%s/%s", path, entry);

		if (pack_name(packing, dirfd(list), entry, below) < 0)
			return -1;
	}
	return 0;
}

/* Leaves out sockets, pipes and devices, which are useless after unpacking elsewhere. */
static int pack_name(struct packing *packing, int folder, const char *name, const char *path)
{
	struct stat info;

	if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_errno(packing->err, path);
	if (++packing->files > packing->bounds->files)
		return err_set(packing->err, ERR_TOO_LARGE, "more than %zu files to pack", packing->bounds->files);
	if (S_ISDIR(info.st_mode))
		return pack_folder(packing, folder, name, path, &info);
	if (S_ISLNK(info.st_mode))
		return pack_link(packing, folder, name, path, &info);
	return S_ISREG(info.st_mode) ? pack_file(packing, folder, name, path, &info) : 0;
}

int archive_pack(int fd, int folder, const char *const *names, const struct archive_bounds *bounds, struct err *err)
{
	_cleanup_(packing_release) struct packing packing = {
		.archive = mem_check(archive_write_new()), .bounds = bounds, .err = err};

	if (archive_write_add_filter_gzip(packing.archive) != ARCHIVE_OK ||
		archive_write_set_format_gnutar(packing.archive) != ARCHIVE_OK ||
		archive_write_set_options(packing.archive, "gzip:compression-level=1,gzip:!timestamp") != ARCHIVE_OK)
		mem_out();
	if (archive_write_open_fd(packing.archive, fd) != ARCHIVE_OK)
		return failed(&packing);
	for (; *names; names++)
		if (pack_name(&packing, folder, *names, *names) < 0)
			return -1;
	return archive_write_close(packing.archive) == ARCHIVE_OK ? 0 : failed(&packing);
}
