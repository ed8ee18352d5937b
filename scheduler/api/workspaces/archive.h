/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_ARCHIVE_H
#define SCHEDULER_API_WORKSPACES_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct err;

struct archive_limits {
	long long entries, bytes; /* `bytes`: unpacked, and also all files together */
};

/*
 * Reads a configuration's archive to its end. It checks that the archive is complete and unpacks only into its folder.
 * ERR_INVALID with the reason if:
 *  - it is not a gzip'd tar, or it is damaged;
 *  - an entry has an absolute path or a path with "..", or passes through a link;
 *  - an entry is no file, folder or link;
 *  - a link leads out of the folder;
 *  - it has too many entries, links or bytes, or a path of more than 4,096 bytes.
 */
int archive_check(const void *bytes, size_t len, struct err *err);
/* The same with other limits than those of a configuration. */
int archive_check_within(struct bytes archive, const struct archive_limits *limits, struct err *err);

/* Fills `out` with that file of the folder, or else of the archive's root, cut at the buffer's limit. *ret_found is
 * false if neither is there in the archive's first 64 MiB, unpacked. */
void archive_file(struct bytes archive, const char *folder, const char *name, struct buf *out, bool *ret_found);

#endif
