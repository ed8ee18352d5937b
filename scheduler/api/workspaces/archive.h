/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_ARCHIVE_H
#define SCHEDULER_API_WORKSPACES_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct err;

struct archive_limits {
	long long entries, bytes; /* `bytes`: unpacked */
};

/*
 * Reads a configuration's archive to its end. It checks that the archive is complete and unpacks only into its folder.
 * ERR_INVALID with the reason if:
 *  - it is not a gzip'd tar, or it is damaged;
 *  - an entry has an absolute path or a path with "..", or passes through a link;
 *  - an entry is no file, folder or link;
 *  - a link leads out of the folder;
 *  - it has too many entries or too many bytes.
 */
int archive_check(const void *bytes, size_t len, struct err *err);
/* The same with other limits than those of a configuration. */
int archive_check_within(struct bytes archive, const struct archive_limits *limits, struct err *err);

/* Appends the file at that path to `out`, cut at the buffer's limit. *ret_found is false if the archive has no such
 * file. */
void archive_file(const void *bytes, size_t len, const char *path, struct buf *out, bool *ret_found);

#endif
