/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REGISTRY_MIRROR_UNPACKED_H
#define SCHEDULER_API_REGISTRY_MIRROR_UNPACKED_H

/* An unpacked package of the mirror: a folder of files. Engines download it as a zip, whose files are not compressed.
 * The zip is made while it is sent, so that it takes neither memory nor disk. */

#include "common/base.h"

struct http_source;
struct unpacked;

/* Lists the package's files. NULL if it is no folder, has something other than files and folders, or is too large. The
 * caller frees it. */
struct unpacked *unpacked_open(int folder, const char *path);
void unpacked_free(struct unpacked *package);
static inline void unpacked_freep(struct unpacked **package)
{
	unpacked_free(*package);
}
/* Differs if a file was replaced. */
uint64_t unpacked_mark(const struct unpacked *package);
/* "h1:" and the Base64 of the hash over all files, as golang.org/x/mod/sumdb/dirhash computes it. NULL if a file can't
 * be read. The caller frees it. */
char *unpacked_hash(const struct unpacked *package);
/* The package as a zip, read from its beginning to its end. The source takes the package. */
void unpacked_send(struct unpacked *package, struct http_source *ret_source);

#endif
