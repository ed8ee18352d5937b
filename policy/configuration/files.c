/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/configuration/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base.h"
#include "policy/configuration/checksum.h"

int files_open(struct files *files, const char *path)
{
	*files = (struct files){.root_path = path, .root = -1};
	if (!path)
		return 0;
	files->root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return files->root < 0 ? -1 : 0;
}

void files_close(struct files *files)
{
	closep(&files->root);
	files->root = -1;
}

/* ---- paths ---- */

const char *files_folder(struct run *run, const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? run_copy(run, path, (size_t)(slash - path)) : "";
}

/* The length of the joined path without its last segment, or with ".." added if there is none to drop. */
static size_t climb(char *joined, size_t len)
{
	size_t start = len;

	while (start > 0 && joined[start - 1] != '/')
		start--;
	if (len == 0 || (len - start == 2 && memcmp(joined + start, "..", 2) == 0)) {
		if (len > 0)
			joined[len++] = '/';
		memcpy(joined + len, "..", 2);
		return len + 2;
	}
	return start > 1 ? start - 1 : start;
}

static size_t add_segment(char *joined, size_t len, const char *segment, size_t segment_len)
{
	if (segment_len == 0 || (segment_len == 1 && segment[0] == '.'))
		return len;
	if (segment_len == 2 && memcmp(segment, "..", 2) == 0)
		return climb(joined, len);
	if (len > 0 && joined[len - 1] != '/')
		joined[len++] = '/';
	memcpy(joined + len, segment, segment_len);
	return len + segment_len;
}

const char *files_join(struct run *run, const char *folder, const char *path)
{
	const char *at = run_text(run, "%s/%s", folder, path);
	char *joined = run_alloc(run, strlen(at) + 2, 1);
	size_t len = 0;

	if (*folder == '/')
		joined[len++] = '/';
	while (*at) {
		size_t segment = strcspn(at, "/");

		len = add_segment(joined, len, at, segment);
		at += segment + (at[segment] != '\0');
	}
	joined[len] = '\0';
	return joined;
}

/* The folder below the root, without a leading slash; NULL if it is not below it. */
static const char *below(const char *root, const char *folder)
{
	size_t len = strlen(root);

	if (strcmp(root, "/") == 0)
		return folder + 1;
	if (strncmp(root, folder, len) != 0 || (folder[len] != '\0' && folder[len] != '/'))
		return NULL;
	return folder[len] ? folder + len + 1 : folder + len;
}

const char *files_beneath(struct run *run, const struct files *files, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *folder = slash == path ? "/" : slash ? files_folder(run, path) : ".";
	char root[PATH_MAX], real[PATH_MAX];
	const char *rest;

	if (files->root < 0)
		return path;
	if (!realpath(files->root_path, root))
		run_fail(run, "%s: %s", files->root_path, strerror(errno));
	if (!realpath(folder, real))
		run_fail(run, "%s: %s", path, strerror(errno));
	rest = below(root, real);
	if (!rest)
		run_fail(run, "%s is not below the root %s (-root)", path, files->root_path);
	return files_join(run, rest, slash ? slash + 1 : path);
}

/* ---- opening ---- */

static int open_beneath(const struct files *files, const char *path)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};

	return (int)syscall(SYS_openat2, files->root, path, &how, sizeof(how));
}

static int open_file(const struct files *files, const char *path)
{
	if (files->root >= 0)
		return open_beneath(files, path);
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

static const char *open_reason(const struct files *files, int error)
{
	if (files->root >= 0 && error == EXDEV)
		return "is outside of the root (-root)";
	if (files->root >= 0 && error == ELOOP)
		return "is a symbolic link or in one, which -root refuses";
	if (files->root >= 0 && error == ENOSYS)
		return "can't be opened: the kernel lacks openat2, which -root needs (Linux 5.6)";
	if (error == ENOENT || error == ENOTDIR)
		return "does not exist";
	return error == EISDIR ? "is no file" : strerror(error);
}

/* An open or mapped file, which run_release closes and unmaps. */
struct content {
	int fd;       /* -1: it is closed */
	char *mapped; /* NULL: nothing is */
	size_t len;
};

static void content_release(void *data)
{
	struct content *content = data;

	closep(&content->fd);
	if (content->mapped)
		munmap(content->mapped, content->len);
}

/* 0, or an errno. The file's size is in content->len. */
static int open_sized(const struct files *files, const char *path, size_t max, struct content *content)
{
	struct stat info;

	content->fd = open_file(files, path);
	if (content->fd < 0 || fstat(content->fd, &info) < 0)
		return errno;
	if (!S_ISREG(info.st_mode))
		return EISDIR;
	content->len = (size_t)info.st_size;
	return content->len > max ? EFBIG : 0;
}

/* 0, or an errno. A file that becomes shorter meanwhile ends where it ends. */
static int read_whole(struct run *run, struct content *content, struct file *ret_file)
{
	char *bytes = run_alloc(run, content->len + 1, 1);
	size_t len = 0;

	while (len < content->len) {
		ssize_t got = read(content->fd, bytes + len, content->len - len);

		if (got < 0 && errno != EINTR)
			return errno;
		if (got == 0)
			break;
		len += got > 0 ? (size_t)got : 0;
	}
	*ret_file = (struct file){.bytes = bytes, .len = len};
	return 0;
}

static int map_whole(struct run *run, struct content *content, struct file *ret_file)
{
	void *bytes = NULL;

	(void)run;
	if (content->len > 0)
		bytes = mmap(NULL, content->len, PROT_READ, MAP_PRIVATE, content->fd, 0);
	if (bytes == MAP_FAILED)
		return errno;
	content->mapped = bytes;
	*ret_file = (struct file){.bytes = bytes ? bytes : "", .len = content->len};
	return 0;
}

struct way {
	size_t max;
	const char *max_text;
	int (*take)(struct run *run, struct content *content, struct file *ret_file);
};

static const struct way reading = {MAX_CONFIGURATION, "16 MiB", read_whole};
static const struct way mapping = {MAX_DATA, "2 GiB", map_whole};

static struct file take_file(struct run *run, const struct files *files, const char *path, const struct way *way,
	const struct reader *reader)
{
	struct content *content = run_alloc(run, 1, sizeof(*content));
	struct file file = {0};
	int error;

	content->fd = -1;
	run_on_release(run, content_release, content);
	error = open_sized(files, path, way->max, content);
	if (!error)
		error = way->take(run, content, &file);
	closep(&content->fd);
	content->fd = -1;
	if (error == EFBIG)
		run_fail_at(run, reader->place, "%s: %s is larger than the limit of %s", reader->subject, path,
			way->max_text);
	if (error)
		run_fail_at(run, reader->place, "%s: %s %s", reader->subject, path, open_reason(files, error));
	run_step_bytes(run, file.len);
	return file;
}

struct file file_read(struct run *run, const struct files *files, const char *path, const struct reader *reader)
{
	return take_file(run, files, path, &reading, reader);
}

struct file file_map(struct run *run, const struct files *files, const char *path, const struct reader *reader)
{
	return take_file(run, files, path, &mapping, reader);
}

/* ---- sources ---- */

#define CHECKSUM "?checksum="

static bool is_remote(const char *source)
{
	return strstr(source, "://") || strstr(source, "::") || text_starts(source, "git@");
}

static void refuse_source(struct run *run, const char *source, const struct reader *reader)
{
	if (is_remote(source))
		run_fail_at(run, reader->place, "%s: the source %s is remote, which is not supported", reader->subject,
			source);
	if (*source == '/')
		run_fail_at(run, reader->place, "%s: the source %s is an absolute path, which is refused",
			reader->subject, source);
	if (*source == '\0')
		run_fail_at(run, reader->place, "%s: the source is empty", reader->subject);
}

/* The length of the source's path. */
static size_t path_len(const char *source)
{
	const char *checksum = strstr(source, CHECKSUM);

	return checksum ? (size_t)(checksum - source) : strlen(source);
}

const char *source_path(struct run *run, const char *folder, const char *source)
{
	return files_join(run, folder, run_copy(run, source, path_len(source)));
}

static struct file take_source(struct run *run, const struct files *files, const char *path, const char *source,
	const struct way *way, const struct reader *reader)
{
	struct file file = take_file(run, files, path, way, reader);
	const char *checksum = strstr(source, CHECKSUM);

	if (checksum)
		checksum_verify(run, &file, checksum + strlen(CHECKSUM), reader);
	return file;
}

struct file source_read(
	struct run *run, const struct files *files, const char *folder, const char *source, const struct reader *reader)
{
	refuse_source(run, source, reader);
	return take_source(run, files, source_path(run, folder, source), source, &reading, reader);
}

struct file source_map(
	struct run *run, const struct files *files, const char *folder, const char *source, const struct reader *reader)
{
	refuse_source(run, source, reader);
	return take_source(run, files, source_path(run, folder, source), source, &mapping, reader);
}
