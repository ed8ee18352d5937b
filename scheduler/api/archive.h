/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ARCHIVE_H
#define SCHEDULER_API_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/buf.h"

struct err;

/*
 * Reads a configuration's archive to its end, so that what a worker will unpack is known to be whole and to stay in
 * its folder. ERR_INVALID with the reason: it is no gzip'd tar or damaged; an entry is absolute, climbs, goes through
 * a link or is no file, folder or link; a link leads out; there is too much in it.
 */
int archive_check(const void *bytes, size_t len, struct err *err);

/* Appends the file at that path to `out`, as far as its bound goes; *ret_found is false if there is none. */
void archive_file(const void *bytes, size_t len, const char *path, struct buf *out, bool *ret_found);

#endif
