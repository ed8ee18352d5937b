/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_PACKAGES_LOCKFILE_H
#define WORKER_PACKAGES_LOCKFILE_H

/*
 * Parses the dependency lock file (.terraform.lock.hcl) as terraform writes it. For each provider it has the address,
 * the version and the accepted checksums of its package: "h1:" of the unpacked folder, "zh:" of the zip for one
 * platform each. Pure.
 */

#include "common/buf.h"

#define LOCKFILE_NAME ".terraform.lock.hcl"

struct locked_provider {
	char *address; /* "registry.terraform.io/hashicorp/time"; owned */
	char *version; /* owned */
	char **hashes; /* owned */
	size_t hash_count;
	size_t insert_at; /* offset in the text where another hash line can be inserted */
};

struct lockfile {
	struct locked_provider *providers;
	size_t count;
};

/* Parses what it understands and ignores the rest; never fails. */
void lockfile_read(const char *text, struct lockfile *ret_lockfile);
void lockfile_release(struct lockfile *lockfile);
/* The provider of that address and version, or NULL. Borrowed. */
const struct locked_provider *lockfile_find(const struct lockfile *lockfile, const char *address, const char *version);
bool locked_has(const struct locked_provider *provider, const char *hash);

#endif
