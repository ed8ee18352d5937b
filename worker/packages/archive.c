/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <archive.h>
#include <archive_entry.h>

#include "common/buf.h"
#include "common/crypto.h"
#include "common/err.h"
#include "worker/exec/beneath.h"

enum { CHUNK = 64 * 1024 };

struct unpacking {
	struct archive *archive;
	struct archive_entry *entry;
	int folder;
	const struct archive_spec *spec;
	size_t files;
	size_t bytes;
	char *path; /* of the entry; owned */
};

static void unpacking_release(struct unpacking *unpacking)
{
	archive_read_free(unpacking->archive);
	free(unpacking->path);
}

/* ---- the rules, without any file ---- */

char *archive_path(const char *path)
{
	_cleanup_(freep) char *copy = mem_text(path);
	_cleanup_(buf_release) struct buf out = BUF_INIT(4096);
	char *rest = copy, *part;

	if (*path == '/')
		return NULL;
	while ((part = strsep(&rest, "/"))) {
		if (!*part || text_equal(part, "."))
			continue;
		if (text_equal(part, "..") || buf_printf(&out, "%s%s", out.len ? "/" : "", part) < 0)
			return NULL;
	}
	return buf_take(&out);
}

static size_t path_depth(const char *path)
{
	size_t depth = 0;

	for (; *path; path++)
		depth += *path == '/';
	return depth;
}

bool archive_link_stays(const char *path, const char *target)
{
	_cleanup_(freep) char *copy = mem_text(target);
	size_t up = 0, down = 0;
	char *rest = copy, *part;

	if (!*target || *target == '/')
		return false;
	while ((part = strsep(&rest, "/"))) {
		if (!*part || text_equal(part, "."))
			continue;
		if (!text_equal(part, ".."))
			down++;
		else if (down > 0)
			return false;
		else
			up++;
	}
	return up <= path_depth(path);
}

/* ---- unpacking ---- */

static int refuse(const struct unpacking *unpacking, struct err *err, const char *why)
{
	return err_set(
		err, ERR_INVALID, "the archive's entry \"%.200s\" %s", archive_entry_pathname(unpacking->entry), why);
}

/* A defective archive fails the run. Lack of memory is no defect of the archive: it ends the process. */
static void memory_check(struct archive *archive)
{
	if (archive_errno(archive) == ENOMEM)
		mem_out();
}

static int copy_data(struct unpacking *unpacking, int fd, struct err *err)
{
	_cleanup_(freep) char *chunk = mem_new(1, CHUNK);
	la_ssize_t got;

	while ((got = archive_read_data(unpacking->archive, chunk, CHUNK)) > 0) {
		unpacking->bytes += (size_t)got;
		if (unpacking->bytes > unpacking->spec->bounds.bytes)
			return err_set(err, ERR_TOO_LARGE, "the archive holds more than %zu bytes",
				unpacking->spec->bounds.bytes);
		if (write_fully(fd, chunk, (size_t)got) < 0)
			return err_errno(err, unpacking->path);
		crypto_sha256_add(unpacking->spec->digest, chunk, (size_t)got);
	}
	if (got < 0)
		memory_check(unpacking->archive);
	return got < 0 ? refuse(unpacking, err, "is damaged") : 0;
}

static int place_made(const struct unpacking *unpacking, struct err *err)
{
	if (beneath_parents(unpacking->folder, unpacking->path) < 0 ||
		beneath_remove(unpacking->folder, unpacking->path) < 0) {
		if (errno == ELOOP || errno == ENOTDIR || errno == EXDEV)
			return refuse(unpacking, err, "lies behind a link or a file");
		return err_errno(err, unpacking->path);
	}
	return 0;
}

static int unpack_file(struct unpacking *unpacking, struct err *err)
{
	mode_t mode = (archive_entry_perm(unpacking->entry) & 0755) | 0600;
	_cleanup_(closep) int fd = -1;

	if (place_made(unpacking, err) < 0)
		return -1;
	fd = beneath_open(unpacking->folder, unpacking->path, O_WRONLY | O_CREAT | O_EXCL, mode);
	if (fd < 0)
		return err_errno(err, unpacking->path);
	return copy_data(unpacking, fd, err);
}

static int unpack_folder(struct unpacking *unpacking, struct err *err)
{
	if (beneath_mkdirs(unpacking->folder, unpacking->path) == 0)
		return 0;
	if (errno == ELOOP || errno == ENOTDIR || errno == EXDEV)
		return refuse(unpacking, err, "lies behind a link or a file");
	return err_errno(err, unpacking->path);
}

/* Opens the folder of the path's last part, and returns that part. */
static int open_parent(const struct unpacking *unpacking, const char **ret_name)
{
	_cleanup_(freep) char *copy = mem_text(unpacking->path);
	char *slash = strrchr(copy, '/');

	*ret_name = slash ? unpacking->path + (slash - copy) + 1 : unpacking->path;
	if (!slash)
		return fcntl(unpacking->folder, F_DUPFD_CLOEXEC, 3);
	*slash = '\0';
	return beneath_open(unpacking->folder, copy, O_RDONLY | O_DIRECTORY, 0);
}

static int unpack_link(struct unpacking *unpacking, struct err *err)
{
	const char *target = text_or_empty(archive_entry_symlink(unpacking->entry));
	const struct archive_spec *spec = unpacking->spec;
	_cleanup_(closep) int parent = -1;
	const char *name;

	if (spec->link && spec->link(spec->data, unpacking->path, target))
		return 0;
	if (!archive_link_stays(unpacking->path, target))
		return spec->drop_bad_links ? 0 : refuse(unpacking, err, "is a link that leads out of its folder");
	if (place_made(unpacking, err) < 0)
		return -1;
	parent = open_parent(unpacking, &name);
	if (parent < 0 || symlinkat(target, parent, name) < 0)
		return err_errno(err, unpacking->path);
	return 0;
}

/* Unpacks a hard link as a copy of the linked file. */
static int unpack_hard_link(struct unpacking *unpacking, struct err *err)
{
	_cleanup_(freep) char *from_path = archive_path(text_or_empty(archive_entry_hardlink(unpacking->entry)));
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(unpacking->spec->bounds.bytes - unpacking->bytes);
	struct stat info = {.st_mode = 0644};
	_cleanup_(closep) int from = -1;

	if (!from_path || !*from_path || text_equal(from_path, unpacking->path))
		return refuse(unpacking, err, "is a link that leads out of its folder");
	from = beneath_open(unpacking->folder, from_path, O_RDONLY, 0);
	if (from < 0 || fstat(from, &info) < 0 || !S_ISREG(info.st_mode))
		return refuse(unpacking, err, "is a link to a file that the archive doesn't have");
	if (beneath_read(unpacking->folder, from_path, &bytes, err) < 0)
		return -1;
	unpacking->bytes += bytes.len;
	if (place_made(unpacking, err) < 0)
		return -1;
	return beneath_write(unpacking->folder, unpacking->path, info.st_mode & 0755, buf_bytes(&bytes), err);
}

/* Includes lengths, so that the fields of different entries can't be confused. */
static void digest_entry(const struct unpacking *unpacking)
{
	struct archive_entry *entry = unpacking->entry;
	const char *link = text_or_empty(archive_entry_symlink(entry));
	const char *other = text_or_empty(archive_entry_hardlink(entry));
	_cleanup_(freep) char *text = mem_printf("%o %lld %zu %zu %zu %s%s%s", (unsigned)archive_entry_mode(entry),
		(long long)archive_entry_size(entry), strlen(unpacking->path), strlen(link), strlen(other),
		unpacking->path, link, other);

	crypto_sha256_add(unpacking->spec->digest, text, strlen(text));
}

static int unpack_kind(struct unpacking *unpacking, struct err *err)
{
	if (archive_entry_hardlink(unpacking->entry))
		return unpack_hard_link(unpacking, err);
	switch (archive_entry_filetype(unpacking->entry)) {
	case AE_IFREG:
		return unpack_file(unpacking, err);
	case AE_IFDIR:
		return unpack_folder(unpacking, err);
	case AE_IFLNK:
		return unpack_link(unpacking, err);
	default:
		return refuse(unpacking, err, "is neither a file nor a folder nor a link");
	}
}

static int unpack_entry(struct unpacking *unpacking, struct err *err)
{
	const struct archive_spec *spec = unpacking->spec;

	if (++unpacking->files > spec->bounds.files)
		return err_set(err, ERR_TOO_LARGE, "the archive holds more than %zu files", spec->bounds.files);
	free(unpacking->path);
	unpacking->path = archive_path(text_or_empty(archive_entry_pathname(unpacking->entry)));
	if (!unpacking->path)
		return refuse(unpacking, err, "leads out of its folder");
	if (!*unpacking->path || (spec->wanted && !spec->wanted(spec->data, unpacking->path)))
		return 0;
	if (spec->digest)
		digest_entry(unpacking);
	return unpack_kind(unpacking, err);
}

static int unpack_all(struct unpacking *unpacking, struct err *err)
{
	int status;

	while ((status = archive_read_next_header(unpacking->archive, &unpacking->entry)) == ARCHIVE_OK ||
		status == ARCHIVE_WARN) {
		if (unpack_entry(unpacking, err) < 0)
			return -1;
	}
	if (status == ARCHIVE_EOF)
		return 0;
	memory_check(unpacking->archive);
	return err_set(err, ERR_INVALID, "the archive is damaged: %.200s",
		text_or_empty(archive_error_string(unpacking->archive)));
}

int archive_unpack(int fd, int folder, const struct archive_spec *spec, struct err *err)
{
	_cleanup_(unpacking_release) struct unpacking unpacking = {
		.archive = mem_check(archive_read_new()), .folder = folder, .spec = spec};

	if (archive_read_support_filter_gzip(unpacking.archive) != ARCHIVE_OK ||
		archive_read_support_format_tar(unpacking.archive) != ARCHIVE_OK)
		mem_out();
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(err, "lseek");
	if (archive_read_open_fd(unpacking.archive, fd, CHUNK) != ARCHIVE_OK) {
		memory_check(unpacking.archive);
		/* libarchive describes the defect of an archive; without an error code it ran out of memory. */
		if (archive_errno(unpacking.archive) == 0)
			return err_set(err, ERR_INTERNAL, "the archive can't be opened");
		return err_set(err, ERR_INVALID, "the archive is not a gzip-compressed tar");
	}
	if (archive_filter_code(unpacking.archive, 0) != ARCHIVE_FILTER_GZIP)
		return err_set(err, ERR_INVALID, "the archive is not a gzip-compressed tar");
	return unpack_all(&unpacking, err);
}
