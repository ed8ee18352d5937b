/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_EXEC_LOCKFILE_H
#define WORKER_EXEC_LOCKFILE_H

/*
 * The dependency lock file (.terraform.lock.hcl) as terraform writes it: for each provider its address, its version and
 * the checksums that its package may have: "h1:" of the unpacked folder, "zh:" of the zip for one platform each. Pure.
 */

#include "common/buf.h"

#define LOCKFILE_NAME ".terraform.lock.hcl"

struct locked_provider {
	char *address; /* "registry.terraform.io/hashicorp/time"; owned */
	char *version; /* owned */
	char **hashes; /* owned */
	size_t hash_count;
	size_t insert_at; /* the place in the text where one more hash's line fits */
};

struct lockfile {
	struct locked_provider *providers;
	size_t count;
};

/* Reads what it understands of the text and leaves out the rest; never fails. */
void lockfile_read(const char *text, struct lockfile *ret_lockfile);
void lockfile_release(struct lockfile *lockfile);
/* The provider of that address and version, or NULL. Borrowed. */
const struct locked_provider *lockfile_find(const struct lockfile *lockfile, const char *address, const char *version);
bool locked_has(const struct locked_provider *provider, const char *hash);

#endif
