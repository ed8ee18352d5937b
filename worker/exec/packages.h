/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_PACKAGES_H
#define WORKER_EXEC_PACKAGES_H

/*
 * The names of provider packages, as folders: "<host>/<namespace>/<type>/<version>/<os>_<arch>" below
 * .terraform/providers and below a mirror alike; and the hash of an unpacked one, the lock file's "h1:".
 */

#include "common/buf.h"

struct err;

enum {
	PACKAGE_PARTS = 5,
	PACKAGE_HEX_SIZE = 65, /* of a hash as a name in a store: 64 digits */
};

struct package {
	char *path;    /* all five parts; owned */
	char *address; /* the first three; owned */
	char *version; /* owned */
};

/* Takes a path apart. -1 if it has not five plain parts. */
int package_parse(const char *path, struct package *ret_package);
void package_release(struct package *package);

/* Calls back for every package below the folder: `link` is the target where it is a link, NULL where it is a folder.
 * The callback returns false to stop; then, or if there is something else than packages, false. No folder: true. */
bool packages_each(int folder, bool (*each)(void *data, const struct package *package, const char *link), void *data);

/* "h1:" and the Base64 of the hash over all files of the folder, as golang.org/x/mod/sumdb/dirhash has it.
 * ERR_INTERNAL. */
int package_hash(int folder, char **ret_hash, struct err *err);

/* The 32 bytes of an "h1:" hash as digits. -1 if it is no such hash. Pure. */
int hash_to_hex(const char *hash, char ret_hex[PACKAGE_HEX_SIZE]);
/* The reverse, for valid digits. The caller frees it. Pure. */
char *hash_of_hex(const char *hex);

/* The disk space that the files of a package take at most, in bytes. -1 if the folder can't be read or has too many
 * files. */
int package_size(int folder, long long *ret_bytes);
/* Copies the files of a package into an empty folder, so that no process of a job has them open or linked. Executable
 * files stay executable. ERR_INTERNAL. */
int package_copy(int from, int to, struct err *err);

#endif
