/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_ARCHIVE_H
#define WORKER_EXEC_ARCHIVE_H

/*
 * tar.gz archives, taken apart as if their author were hostile and made from folders as they are.
 *
 * What is unpacked stays in its folder whatever the archive says: no absolute paths, no "..", no devices or pipes, and
 * no link that leads out. A link's target may begin with ".." as far as the link is deep, and may hold none after that:
 * then a chain of links can't leave the folder either, whatever each of them points to.
 */

#include "common/base.h"

struct err;
struct sha256;

struct archive_bounds {
	size_t files; /* entries of any kind */
	size_t bytes; /* after unpacking */
};

struct archive_spec {
	struct archive_bounds bounds;
	/* False leaves the entry out. NULL: all are taken. */
	bool (*wanted)(void *data, const char *path);
	/* Called for each link instead of making it; true: it is dealt with. NULL: links are checked and made. */
	bool (*link)(void *data, const char *path, const char *target);
	void *data;
	struct sha256 *digest; /* takes in all that decides what is unpacked, but for times and owners; or NULL */
	bool drop_bad_links;   /* leaves out a link that leads out, instead of refusing the archive */
};

/* The path without "./" and doubled slashes in a new text, or NULL if it is absolute or has a "..". "" is the top. */
char *archive_path(const char *path);
/* True if a link at `path` with this target stays in the folder. */
bool archive_link_stays(const char *path, const char *target);

/* Unpacks the tar.gz that `fd` holds below the folder. ERR_INVALID with a sentence about what is wrong with the
 * archive; ERR_TOO_LARGE; ERR_INTERNAL if the disk fails. */
int archive_unpack(int fd, int folder, const struct archive_spec *spec, struct err *err);

/* Writes a tar.gz of the named files and trees of `folder` to fd; links as links; names that don't exist are left out.
 * ERR_TOO_LARGE, ERR_INTERNAL. */
int archive_pack(int fd, int folder, const char *const *names, const struct archive_bounds *bounds, struct err *err);

#endif
