/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_PACKAGES_H
#define WORKER_PACKAGES_PACKAGES_H

/*
 * Provider packages as folders: their paths and hashes. A path is "<host>/<namespace>/<type>/<version>/<os>_<arch>",
 * both below .terraform/providers and below a mirror. The hash is the lock file's "h1:" of the unpacked package.
 */

#include "common/buf.h"

struct err;

enum {
	PACKAGE_PARTS = 5,
	PACKAGE_HEX_SIZE = 65, /* of a hash in hexadecimal: 64 digits */
};

struct package {
	char *path;    /* all five parts; owned */
	char *address; /* the first three; owned */
	char *version; /* owned */
};

/* Parses a path. -1 if it does not have five plain parts. */
int package_parse(const char *path, struct package *ret_package);
void package_release(struct package *package);

/* Calls `each` for every package below the folder. `link` is its target if it is a link, NULL if it is a folder. The
 * callback returns false to stop. Returns false then, or if the folder holds anything other than packages. A missing
 * folder returns true. */
bool packages_each(int folder, bool (*each)(void *data, const struct package *package, const char *link), void *data);

/* "h1:" and the Base64 of the hash over all files of the folder, as golang.org/x/mod/sumdb/dirhash computes it.
 * ERR_INTERNAL. */
int package_hash(int folder, char **ret_hash, struct err *err);

/* Converts an "h1:" hash of 32 bytes to hexadecimal digits. -1 if it is no such hash. Pure. */
int hash_to_hex(const char *hash, char ret_hex[PACKAGE_HEX_SIZE]);
/* The reverse, for valid digits. The caller frees it. Pure. */
char *hash_of_hex(const char *hex);

/* Upper bound of the disk space of a package's files, in bytes. -1 if the folder can't be read or has too many
 * files. */
int package_size(int folder, long long *ret_bytes);
/* Copies the files of a package into an empty folder, so that no process of a job has the copies open or linked.
 * Executable files stay executable. ERR_INTERNAL. */
int package_copy(int from, int to, struct err *err);

#endif
