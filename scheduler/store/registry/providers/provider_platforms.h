/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_PROVIDERS_PROVIDER_PLATFORMS_H
#define SCHEDULER_STORE_REGISTRY_PROVIDERS_PROVIDER_PLATFORMS_H

/*
 * The platforms of a provider's version, each with one archive. The archive must have the platform's checksum, and is
 * never replaced. Engines get it once the signature of the version's SHA256SUMS is verified, and SHA256SUMS has the
 * same checksum for the file (the column `usable`).
 */

#include "scheduler/store/store.h"

enum { MAX_PROVIDER_PLATFORMS = 100 };

/* True for the name of a file of a release: at most 255 letters, digits and "._+-". Pure. */
bool provider_filename_valid(const char *name);

struct provider_version_row;
/* Borrowed. */
struct provider_platform_draft {
	const char *os, *arch, *filename;
	const char *shasum; /* any text: the archive must have it */
};
/* Adds a platform without its archive. ERR_INVALID if a member is not well-formed, if the version's SHA256SUMS does not
 * have the checksum, if the version has the platform, or MAX_PROVIDER_PLATFORMS. */
int provider_platform_create(struct store *store, const struct provider_version_row *version,
	const struct provider_platform_draft *draft, struct id *ret_id, struct err *err);
/* The shape `provider_platform`. ERR_NOT_FOUND. */
int provider_platform_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
struct provider_platform_place {
	const char *version_id, *os, *arch;
};
int provider_platform_find(
	struct store *store, const struct provider_platform_place *place, struct rows *ret_rows, struct err *err);
/* One page by name, with `total`; a row with a null id if the page is empty. */
int provider_platforms_list(struct store *store, const char *version_id, const struct list_range *range,
	struct rows *ret_rows, struct err *err);

struct provider_platform_row;
/* Stores the archive. Nothing changes if the platform has it already. ERR_INVALID if it has another checksum than the
 * platform, or than the verified SHA256SUMS. */
int provider_platform_upload(
	struct store *store, const struct provider_platform_row *platform, struct bytes archive, struct err *err);
int provider_platform_delete(struct store *store, const char *id, struct err *err);

#endif
