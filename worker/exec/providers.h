/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_PROVIDERS_H
#define WORKER_EXEC_PROVIDERS_H

/*
 * The worker's provider packages, downloaded and unpacked once, in <data-dir>/providers:
 *
 *     store/<hex>/         a package, named after the hash of its files
 *     store/<hex>.hashes   the checksums under which lock files know it, one a line
 *     mirror/<host>/<namespace>/<type>/<version>/<os>_<arch>   a link into the store
 *
 * mirror/ is the first place where an engine looks for packages (its CLI configuration says so), and it links what it
 * finds there. What it had to get elsewhere is taken over from the job's folder after init: the folder is moved into
 * the store with one rename, and whoever comes second with the same package uses the first one's. Jobs see all of it
 * read-only. Only the packages of an init that ran no code of the job's are taken over (stage/init).
 */

#include "common/buf.h"

struct err;

struct providers {
	char *path; /* absolute; owned */
	int folder;
};

/* "linux_amd64": the platform whose packages this machine runs. */
const char *providers_platform(void);

/* Makes the folders. ERR_INTERNAL. */
int providers_open(const char *data_dir, struct providers *ret_providers, struct err *err);
void providers_release(struct providers *providers);

/* The engine's CLI configuration. `seen` is the path of this cache as the job sees it; `mirror` a folder, a URL, or ""
 * for the providers' own registries; `skip` addresses (NULL-terminated) whose cached package must not be used, or NULL.
 */
int providers_cli_config(const char *seen, const char *mirror, char *const *skip, struct buf *out);

/*
 * Fits the configuration's lock file to the cache before init. A lock file made on another platform may know a package
 * by its zip's checksum alone, and an unpacked one can't be checked against that: where the cache knows that both are
 * the same package, the missing line is added. Packages that the lock file doesn't allow are returned in *ret_skip.
 */
int providers_fit_lockfile(const struct providers *providers, int folder, char ***ret_skip, struct err *err);
void providers_skip_free(char **skip);

/* Moves what init downloaded below `folder` into the store and leaves links. A package that can't be is left as it is.
 * Returns how many were taken over. */
int providers_adopt(const struct providers *providers, int folder, const char *seen);

/* Makes the link for a package that another worker's init used; `mirror` as above. False if neither the cache nor the
 * mirror has what the lock file of `folder` asks for: then init has to run. */
bool providers_link(
	const struct providers *providers, int folder, const char *seen, const char *mirror, const char *path);

#endif
