/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_PACKAGES_H
#define WORKER_EXEC_PACKAGES_H

/*
 * The names of provider packages, as folders: "<host>/<namespace>/<type>/<version>/<os>_<arch>" below
 * .terraform/providers and below a mirror alike; and the hash of an unpacked one, the lock file's "h1:".
 */

#include "common/buf.h"

struct err;

enum { PACKAGE_PARTS = 5 };

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

#endif
