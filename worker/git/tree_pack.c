/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/tree_pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/err.h"
#include "common/vcs/ref.h"
#include "worker/engine/variables.h"
#include "worker/exec/beneath.h"
#include "worker/git/pointers.h"
#include "worker/packages/archive.h"

enum { CHUNK = 64 * 1024, POINTER_MAX = 1024, DEPTH_MAX = 200 };

/* The tar goes through a digest into a second archive, which only compresses. */
struct packing {
	struct archive *tar, *gzip;
	struct sha256 *digest;
	const char *directory; /* or NULL */
	const struct tree_limits *limits;
	long long files, bytes, size;
	int depth;
	json_t *pointers;
	struct err *err;
};

static int folder_pack(struct packing *packing, int folder, const char *path);

static void entry_freep(struct archive_entry **entry)
{
	archive_entry_free(*entry);
}

static int failed(struct packing *packing, struct archive *archive)
{
	if (archive_errno(archive) == ENOMEM)
		mem_out();
	return err_set(
		packing->err, ERR_INTERNAL, "packing failed: %.200s", text_or_empty(archive_error_string(archive)));
}

/* ---- entries ---- */

struct item {
	const char *path;
	mode_t mode;
	long long size;
	const char *target; /* of a link */
};

static int header_write(struct packing *packing, const struct item *item)
{
	_cleanup_(entry_freep) struct archive_entry *entry = mem_check(archive_entry_new());

	if (++packing->files > packing->limits->files)
		return err_set(packing->err, ERR_TOO_LARGE, "The commit has more than %lld files (--fetch-files).",
			packing->limits->files);
	archive_entry_set_pathname(entry, item->path);
	archive_entry_set_mode(entry, item->mode);
	archive_entry_set_mtime(entry, 0, 0);
	if (item->target)
		archive_entry_set_symlink(entry, item->target);
	archive_entry_set_size(entry, item->size);
	return archive_write_header(packing->tar, entry) == ARCHIVE_OK ? 0 : failed(packing, packing->tar);
}

static void pointer_note(struct packing *packing, const char *path, const char *bytes, size_t len)
{
	if (pointer_begins(bytes, len) && json_array_size(packing->pointers) < TREE_POINTERS)
		json_array_append_new(packing->pointers, json_string(path));
}

static int file_pack(struct packing *packing, int folder, const char *name, const struct item *item)
{
	_cleanup_(closep) int fd = beneath_open(folder, name, O_RDONLY, 0);
	_cleanup_(freep) char *chunk = mem_new(1, CHUNK);
	ssize_t got;

	if (fd < 0)
		return err_errno(packing->err, item->path);
	packing->bytes += item->size;
	if (packing->bytes > packing->limits->bytes)
		return err_set(packing->err, ERR_TOO_LARGE,
			"The files of the commit are larger than %lld MiB (--fetch-size).",
			packing->limits->bytes >> 20);
	if (header_write(packing, item) < 0)
		return -1;
	while ((got = read(fd, chunk, CHUNK)) > 0) {
		if (item->size <= POINTER_MAX)
			pointer_note(packing, item->path, chunk, (size_t)got);
		if (archive_write_data(packing->tar, chunk, (size_t)got) < 0)
			return failed(packing, packing->tar);
	}
	return got < 0 ? err_errno(packing->err, item->path) : 0;
}

static int link_pack(struct packing *packing, int folder, const char *name, struct item *item)
{
	char target[PATH_MAX];
	ssize_t len = readlinkat(folder, name, target, sizeof(target) - 1);
	int result;

	if (len < 0)
		return err_errno(packing->err, item->path);
	target[len] = '\0';
	if (!archive_link_stays(item->path, target))
		return err_set(packing->err, ERR_INVALID, "The link %.200s leads out of %.200s.", item->path,
			packing->directory ? packing->directory : "the repository");
	item->target = target;
	item->mode = S_IFLNK | 0777;
	result = header_write(packing, item);
	item->target = NULL;
	return result;
}

static int item_pack(struct packing *packing, int folder, const char *name, const char *path)
{
	struct item item = {.path = path};
	struct stat info;

	if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(packing->err, path);
	if (S_ISLNK(info.st_mode))
		return link_pack(packing, folder, name, &item);
	item.mode = (info.st_mode & S_IFMT) | (S_ISDIR(info.st_mode) || (info.st_mode & 0100) ? 0755 : 0644);
	if (S_ISDIR(info.st_mode)) {
		_cleanup_(closep) int below = beneath_open(folder, name, O_RDONLY | O_DIRECTORY, 0);

		if (below < 0)
			return err_errno(packing->err, path);
		return header_write(packing, &item) < 0 ? -1 : folder_pack(packing, below, path);
	}
	if (!S_ISREG(info.st_mode))
		return err_set(packing->err, ERR_INVALID, "%.200s is no file, folder or link.", path);
	item.size = info.st_size;
	return file_pack(packing, folder, name, &item);
}

/* ---- folders ---- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int by_letters(const void *a, const void *b)
{
	return strcasecmp(*(char *const *)a, *(char *const *)b);
}

static int names_read(struct packing *packing, int folder, const char *path, struct texts *ret_names)
{
	_cleanup_(list_closep) DIR *list = beneath_list(folder, ".");
	const char *name;

	if (!list)
		return err_errno(packing->err, path);
	while ((name = list_next(list)))
		if (strcasecmp(name, ".git") != 0)
			TEXTS_ADD(ret_names, name);
	return 0;
}

/* Two names that differ in case alone are one file on some machines. */
static int names_check(struct packing *packing, const char *path, struct texts *names)
{
	qsort(names->items, names->count, sizeof(char *), by_letters);
	for (size_t i = 1; i < names->count; i++)
		if (strcasecmp(names->items[i - 1], names->items[i]) == 0)
			return err_set(packing->err, ERR_INVALID, "%.200s%s%.100s and %.100s differ in case alone.",
				path, *path ? "/" : "", names->items[i - 1], names->items[i]);
	qsort(names->items, names->count, sizeof(char *), by_name);
	for (size_t i = 0; i < names->count; i++) {
		json_auto_t *text = json_string(names->items[i]);

		if (!text)
			return err_set(packing->err, ERR_INVALID, "A name in the folder %.200s is not valid UTF-8.",
				*path ? path : "/");
	}
	return 0;
}

static int folder_pack(struct packing *packing, int folder, const char *path)
{
	_cleanup_(texts_release) struct texts names = {.items = NULL};

	if (++packing->depth > DEPTH_MAX)
		return err_set(packing->err, ERR_INVALID, "Folders are nested deeper than %d.", DEPTH_MAX);
	if (names_read(packing, folder, path, &names) < 0)
		return -1;
	if (names.count && names_check(packing, path, &names) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_(freep) char *below = mem_printf("%s%s%s", path, *path ? "/" : "", names.items[i]);

		if (item_pack(packing, folder, names.items[i], below) < 0)
			return -1;
	}
	packing->depth--;
	return 0;
}

/* ---- the archive ---- */

static la_ssize_t tar_write(struct archive *archive, void *data, const void *bytes, size_t len)
{
	struct packing *packing = data;

	(void)archive;
	packing->size += (long long)len;
	crypto_sha256_add(packing->digest, bytes, len);
	return archive_write_data(packing->gzip, bytes, len) < 0 ? -1 : (la_ssize_t)len;
}

static int gzip_open(struct packing *packing, int fd)
{
	_cleanup_(entry_freep) struct archive_entry *entry = mem_check(archive_entry_new());

	archive_entry_set_pathname(entry, "tar");
	archive_entry_set_filetype(entry, AE_IFREG);
	if (archive_write_add_filter_gzip(packing->gzip) != ARCHIVE_OK ||
		archive_write_set_format_raw(packing->gzip) != ARCHIVE_OK ||
		archive_write_set_options(packing->gzip, "gzip:compression-level=6,gzip:!timestamp") != ARCHIVE_OK)
		mem_out();
	if (archive_write_open_fd(packing->gzip, fd) != ARCHIVE_OK ||
		archive_write_header(packing->gzip, entry) != ARCHIVE_OK)
		return failed(packing, packing->gzip);
	return 0;
}

static int tar_open(struct packing *packing)
{
	if (archive_write_set_format_gnutar(packing->tar) != ARCHIVE_OK)
		mem_out();
	archive_write_set_bytes_per_block(packing->tar, CHUNK);
	archive_write_set_bytes_in_last_block(packing->tar, 1);
	if (archive_write_open(packing->tar, packing, NULL, tar_write, NULL) != ARCHIVE_OK)
		return failed(packing, packing->tar);
	return 0;
}

/* Nothing but a folder of the commit itself: no link, and no metadata of git. */
static int directory_open(const struct tree_place *place, int *ret_folder, struct err *err)
{
	const char *directory = place->directory;

	if (directory && !vcs_folder_valid(directory))
		return err_set(err, ERR_INVALID, "The source directory is not a valid path.");
	*ret_folder = beneath_open(place->tree, directory ? directory : ".", O_RDONLY | O_DIRECTORY, 0);
	if (*ret_folder >= 0)
		return 0;
	if (directory && (errno == ENOENT || errno == ENAMETOOLONG))
		return err_set(err, ERR_INVALID, "The commit has no folder %.200s.", directory);
	if (directory && (errno == ELOOP || errno == ENOTDIR))
		return err_set(err, ERR_INVALID, "%.200s is no folder, or a link leads to it.", directory);
	return err_errno(err, "the folder of the commit");
}

static int pack(struct packing *packing, const struct tree_place *place, int fd)
{
	_cleanup_(closep) int folder = -1;

	if (directory_open(place, &folder, packing->err) < 0)
		return -1;
	if (gzip_open(packing, fd) < 0 || tar_open(packing) < 0 || folder_pack(packing, folder, "") < 0)
		return -1;
	if (archive_write_close(packing->tar) != ARCHIVE_OK)
		return failed(packing, packing->tar);
	return archive_write_close(packing->gzip) == ARCHIVE_OK ? 0 : failed(packing, packing->gzip);
}

int tree_pack(const struct tree_place *place, int fd, const struct tree_limits *limits, struct tree_packed *ret_packed,
	struct err *err)
{
	struct packing packing = {.tar = mem_check(archive_write_new()),
		.gzip = mem_check(archive_write_new()),
		.digest = crypto_sha256_begin(),
		.limits = limits,
		.directory = place->directory,
		.pointers = json_array(),
		.err = err};
	int status = pack(&packing, place, fd);

	archive_write_free(packing.tar);
	archive_write_free(packing.gzip);
	crypto_sha256_end(packing.digest, ret_packed->hash);
	ret_packed->size = packing.size;
	ret_packed->pointers = packing.pointers;
	if (status < 0) {
		json_decref(packing.pointers);
		ret_packed->pointers = NULL;
	}
	return status;
}
