/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_GIT_TREE_PACK_H
#define WORKER_GIT_TREE_PACK_H

/*
 * Packs the files of a commit. The same files give the same archive, on any worker: entries are sorted, times and
 * owners are fixed, modes are 0644 and 0755, and `.git` is left out, wherever it is.
 */

#include "common/crypto.h"
#include "common/json/json.h"

struct err;

enum { TREE_POINTERS = 50 };

struct tree_packed {
	char hash[SHA256_HEX_SIZE]; /* of the tar, before its compression */
	long long size;             /* of the tar, in bytes */
	json_t *pointers;           /* paths of files that are Git LFS pointers, at most TREE_POINTERS; owned */
};

struct tree_limits {
	long long files, bytes;
};

/* The files to pack: those of the tree, or of one folder in it, which becomes the root of the archive. */
struct tree_place {
	int tree;
	const char *directory; /* from outside; NULL: all */
};

/*
 * Writes the files as tar.gz to fd. ERR_INVALID for links that lead out, names that differ in case alone, names that
 * are not valid UTF-8, and a directory that is none; its sentence names the path. ERR_TOO_LARGE; ERR_INTERNAL.
 */
int tree_pack(const struct tree_place *place, int fd, const struct tree_limits *limits, struct tree_packed *ret_packed,
	struct err *err);

#endif
