/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/workspaces/archive.h"

#include <errno.h>
#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "common/err.h"
#include "common/json/json.h"

enum {
	PATH_LENGTH_MAX = 4096,    /* Linux can't have a longer one */
	LINK_BYTES_MAX = 64 << 20, /* of memory for the paths of all links */
	LINK_PART_BYTES = 300,     /* for a folder or a name, beside its text */
	LOOK_BYTES = 64 << 20,     /* unpacked, in which archive_file looks */
};

static const struct archive_limits configuration_limits = {.entries = 200000, .bytes = 4LL << 30};

struct walk {
	const struct archive_limits *limits;
	/* The symbolic links as a tree of folders: {"folder": {"link": true}}. No entry may pass through one. The time
	 * for an entry grows with the length of its path. */
	json_t *links;
	long long entries, bytes, link_bytes;
};

static int refuse(struct err *err, const char *path, const char *why)
{
	return err_set(err, ERR_INVALID, "the archive's entry '%.200s' %s", path, why);
}

/* True if a component of the path is "..". With `leading`, ".." is accepted before the first other component. */
static bool climbs(const char *path, bool leading)
{
	bool below = !leading;

	while (*path) {
		size_t len = strcspn(path, "/");
		bool up = len == 2 && path[0] == '.' && path[1] == '.';

		if (up && below)
			return true;
		if (!up && len && !(len == 1 && path[0] == '.'))
			below = true;
		path += len + (path[len] == '/');
	}
	return false;
}

/* The number of folders above the path's last component. */
static int depth_of(const char *path)
{
	int parts = 0;

	while (*path) {
		size_t len = strcspn(path, "/");

		parts += len && !(len == 1 && path[0] == '.');
		path += len + (path[len] == '/');
	}
	return parts ? parts - 1 : 0;
}

static int leading_ups(const char *target)
{
	int ups = 0;

	while (*target) {
		size_t len = strcspn(target, "/");

		ups += len == 2 && target[0] == '.' && target[1] == '.';
		target += len + (target[len] == '/');
	}
	return ups;
}

/* The path without "." and doubled slashes, as in `links`. */
static char *path_plain(const char *path)
{
	char *plain = mem_new(strlen(path) + 2, 1);
	char *out = plain;

	while (*path) {
		size_t len = strcspn(path, "/");

		if (len && !(len == 1 && path[0] == '.')) {
			if (out != plain)
				*out++ = '/';
			memcpy(out, path, len);
			out += len;
		}
		path += len + (path[len] == '/');
	}
	return plain;
}

static bool through_link(const struct walk *walk, const char *plain)
{
	const json_t *folder = walk->links;

	for (const char *slash; (slash = strchr(plain, '/')); plain = slash + 1) {
		folder = json_object_getn(folder, plain, (size_t)(slash - plain));
		if (!json_is_object(folder))
			return folder;
	}
	return false;
}

/* No link is in the way (through_link). */
static void link_add(struct walk *walk, const char *plain)
{
	json_t *folder = walk->links;

	for (const char *slash; (slash = strchr(plain, '/')); plain = slash + 1) {
		size_t len = (size_t)(slash - plain);
		json_t *below = json_object_getn(folder, plain, len);

		if (!below) {
			below = json_object();
			json_object_setn_new_nocheck(folder, plain, len, below);
		}
		folder = below;
	}
	json_object_set_new_nocheck(folder, plain, json_true());
}

/* A target may have ".." only at its start, and only up to the archive's root. Links that it passes after that are
 * checked themselves. */
static int symlink_check(struct walk *walk, const char *path, const char *plain, const char *target, struct err *err)
{
	if (!*target || target[0] == '/' || climbs(target, true) || leading_ups(target) > depth_of(plain))
		return refuse(err, path, "is a link that leads out of the folder");
	walk->link_bytes += (long long)strlen(plain) + (long long)(depth_of(plain) + 1) * LINK_PART_BYTES;
	if (walk->link_bytes > LINK_BYTES_MAX)
		return refuse(err, path, "is one link too many");
	link_add(walk, plain);
	return 0;
}

static int hardlink_check(const struct walk *walk, const char *path, const char *target, struct err *err)
{
	if (strlen(target) > PATH_LENGTH_MAX)
		return refuse(err, path, "is a link to a path that is too long");
	_cleanup_(freep) char *plain = path_plain(target);

	if (target[0] == '/' || climbs(target, false) || through_link(walk, plain))
		return refuse(err, path, "is a link that leads out of the folder");
	return 0;
}

static int type_check(
	struct walk *walk, struct archive_entry *entry, const char *path, const char *plain, struct err *err)
{
	const char *hardlink = archive_entry_hardlink(entry);
	const char *symlink = archive_entry_symlink(entry);

	if (!symlink && archive_entry_filetype(entry) == AE_IFLNK)
		symlink = archive_entry_symlink_utf8(entry);
	if (hardlink)
		return hardlink_check(walk, path, hardlink, err);
	switch (archive_entry_filetype(entry)) {
	case AE_IFREG:
	case AE_IFDIR:
		return 0;
	case AE_IFLNK:
		return symlink_check(walk, path, plain, text_or_empty(symlink), err);
	default:
		return refuse(err, path, "is no file, folder or link");
	}
}

/* Beside the bytes of the files, the archive's own ones count: headers with attributes can be larger than any file. A
 * file with holes is larger than its part of the archive. */
static bool has_room(struct walk *walk, struct archive *archive, struct archive_entry *entry)
{
	walk->bytes += archive_entry_size(entry);
	return archive_entry_size(entry) >= 0 && walk->bytes <= walk->limits->bytes &&
		archive_filter_bytes(archive, 0) <= walk->limits->bytes;
}

static int entry_check(struct walk *walk, struct archive *archive, struct archive_entry *entry, struct err *err)
{
	const char *path = archive_entry_pathname(entry);

	if (!path)
		path = archive_entry_pathname_utf8(entry);
	if (!path || !*path)
		return err_set(err, ERR_INVALID, "the archive has an entry whose name can't be read");
	if (strlen(path) > PATH_LENGTH_MAX)
		return refuse(err, path, "has a path that is too long");
	_cleanup_(freep) char *plain = path_plain(path);
	if (path[0] == '/')
		return refuse(err, path, "has an absolute path");
	if (climbs(path, false))
		return refuse(err, path, "leads out of the folder");
	if (through_link(walk, plain))
		return refuse(err, path, "goes through a link");
	if (++walk->entries > walk->limits->entries)
		return err_set(err, ERR_INVALID, "the archive has more than %lld entries", walk->limits->entries);
	if (!has_room(walk, archive, entry))
		return err_set(err, ERR_INVALID, "the archive has more than %lld bytes in it", walk->limits->bytes);
	return type_check(walk, entry, path, plain, err);
}

static int archive_walk(struct archive *archive, struct walk *walk, struct err *err)
{
	struct archive_entry *entry;
	int result;

	while ((result = archive_read_next_header(archive, &entry)) == ARCHIVE_OK || result == ARCHIVE_WARN) {
		if (entry_check(walk, archive, entry, err) < 0)
			return -1;
		if (archive_read_data_skip(archive) < ARCHIVE_WARN)
			break;
	}
	if (result == ARCHIVE_EOF)
		return 0;
	if (archive_errno(archive) == ENOMEM)
		mem_out(); /* a valid upload must not be refused for lack of memory */
	return err_set(
		err, ERR_INVALID, "the archive is damaged: %.200s", text_or_empty(archive_error_string(archive)));
}

static struct archive *archive_open(const void *bytes, size_t len)
{
	struct archive *archive = mem_check(archive_read_new());

	if (archive_read_support_filter_gzip(archive) != ARCHIVE_OK ||
		archive_read_support_format_tar(archive) != ARCHIVE_OK)
		mem_out();
	if (archive_read_open_memory(archive, bytes, len) == ARCHIVE_OK)
		return archive;
	if (archive_errno(archive) == ENOMEM)
		mem_out();
	archive_read_free(archive);
	return NULL;
}

int archive_check_within(struct bytes packed, const struct archive_limits *limits, struct err *err)
{
	const unsigned char *magic = packed.data;
	struct walk walk = {.limits = limits};
	struct archive *archive;
	int result = -1;

	if (packed.len < 2 || magic[0] != 0x1f || magic[1] != 0x8b)
		return err_set(err, ERR_INVALID, "the upload is no gzip'd tar archive");
	archive = archive_open(packed.data, packed.len);
	if (!archive)
		return err_set(err, ERR_INVALID, "the upload is no gzip'd tar archive");
	walk.links = json_object();
	result = archive_walk(archive, &walk, err);
	json_decref(walk.links);
	archive_read_free(archive);
	return result;
}

int archive_check(const void *bytes, size_t len, struct err *err)
{
	return archive_check_within((struct bytes){bytes, len}, &configuration_limits, err);
}

/* ---- one file ---- */

static void entry_read(struct archive *archive, struct buf *out)
{
	char piece[8192];
	la_ssize_t got;

	while (out->len < out->limit && (got = archive_read_data(archive, piece, sizeof(piece))) > 0) {
		size_t room = out->limit - out->len;

		buf_append(out, piece, (size_t)got < room ? (size_t)got : room);
	}
}

static bool entry_named(struct archive_entry *entry, const char *path)
{
	const char *name = archive_entry_pathname(entry);

	if (!name || strlen(name) > PATH_LENGTH_MAX || archive_entry_filetype(entry) != AE_IFREG ||
		archive_entry_hardlink(entry))
		return false;
	_cleanup_(freep) char *plain = path_plain(name);
	return text_equal(plain, path);
}

void archive_file(struct bytes packed, const char *folder, const char *name, struct buf *out, bool *ret_found)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s", folder, name), *plain = path_plain(path);
	struct archive *archive = archive_open(packed.data, packed.len);
	struct archive_entry *entry;
	bool in_folder = false;

	*ret_found = false;
	while (archive && !in_folder && archive_read_next_header(archive, &entry) >= ARCHIVE_WARN) {
		in_folder = entry_named(entry, plain);
		if (in_folder || (!*ret_found && entry_named(entry, name))) {
			*ret_found = true;
			out->len = 0;
			entry_read(archive, out);
		}
		if (archive_entry_size(entry) > LOOK_BYTES - archive_filter_bytes(archive, 0))
			break;
	}
	if (archive)
		archive_read_free(archive);
}
