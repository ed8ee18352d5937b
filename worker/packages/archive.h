/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_ARCHIVE_H
#define WORKER_PACKAGES_ARCHIVE_H

/*
 * Unpacks tar.gz archives from untrusted authors, and packs folders into tar.gz archives.
 *
 * Unpacked files stay in their folder, whatever the archive says. Absolute paths, "..", devices and pipes are refused,
 * and so are links that lead out. A link's target may begin with as many ".." as the link is deep, and may have none
 * after that. So a chain of links can't leave the folder either, whatever each of them points to.
 */

#include "common/base.h"

struct err;
struct sha256;

struct archive_bounds {
	size_t files; /* entries of any kind */
	size_t bytes; /* total bytes after unpacking */
};

struct archive_spec {
	struct archive_bounds bounds;
	/* Returns false to leave the entry out. NULL: all entries are unpacked. */
	bool (*wanted)(void *data, const char *path);
	/* Called for each link instead of making it. Returns true if it has handled the link. NULL: links are checked
	 * and made. */
	bool (*link)(void *data, const char *path, const char *target);
	void *data;
	struct sha256 *digest; /* covers all that decides what is unpacked, except times and owners; or NULL */
	bool drop_bad_links;   /* leaves out a link that leads out; false: such a link makes the archive invalid */
};

/* Returns the path without "./" and doubled slashes as a new text, or NULL if it is absolute or has a "..". "" is
 * the top. */
char *archive_path(const char *path);
/* True if a link at `path` with this target stays in the folder. */
bool archive_link_stays(const char *path, const char *target);

/* Unpacks the tar.gz in `fd` below the folder. ERR_INVALID with a message that names the defect of the archive;
 * ERR_TOO_LARGE; ERR_INTERNAL if the disk fails. */
int archive_unpack(int fd, int folder, const struct archive_spec *spec, struct err *err);

/* Writes a tar.gz of the named files and trees of `folder` to fd. Links are stored as links. Names that don't exist
 * are left out. ERR_TOO_LARGE, ERR_INTERNAL. */
int archive_pack(int fd, int folder, const char *const *names, const struct archive_bounds *bounds, struct err *err);

#endif
