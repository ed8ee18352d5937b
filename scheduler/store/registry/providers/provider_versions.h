/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_REGISTRY_PROVIDERS_PROVIDER_VERSIONS_H
#define SCHEDULER_STORE_REGISTRY_PROVIDERS_PROVIDER_VERSIONS_H

/*
 * Versions of private providers. A publisher uploads SHA256SUMS and its signature. With both, the signature is verified
 * by the organization's key that the version names, outside of this module. A verified version keeps both files, its
 * key, and the checksums. Engines find it with those of its platforms whose archive has the checksum of SHA256SUMS
 * (provider_platforms.h).
 */

#include "scheduler/store/store.h"

enum { MAX_PROVIDER_VERSIONS = 1000, MAX_SHASUMS = 64 << 10 };

/* Borrowed. */
struct provider_version_draft {
	const char *provider_id, *version;
	const char *key_id;      /* any text: it counts when the signature is uploaded */
	const json_t *protocols; /* ["5.0"] */
};
/* Adds a version without content. ERR_INVALID if it is no semantic version, if the provider has it, or if the provider
 * has MAX_PROVIDER_VERSIONS. */
int provider_version_create(
	struct store *store, const struct provider_version_draft *draft, struct id *ret_id, struct err *err);
/* The shape `provider_version`. ERR_NOT_FOUND. */
int provider_version_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
int provider_version_find(
	struct store *store, const char *provider_id, const char *version, struct rows *ret_rows, struct err *err);
/* Sends the query for the versions of these ids (db_ask). */
int provider_versions_ask(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* One page, the newest first, with `total`; a row with a null id if the page is empty. */
int provider_versions_list(struct store *store, const char *provider_id, const struct list_range *range,
	struct rows *ret_rows, struct err *err);

/* The files of a version; empty: not uploaded. */
struct provider_version_files {
	struct buf shasums, signature;
};
#define PROVIDER_VERSION_FILES_INIT                                                                                    \
	{                                                                                                              \
		.shasums = BUF_INIT(MAX_SHASUMS), .signature = BUF_INIT(MAX_SHASUMS)                                   \
	}
void provider_version_files_release(struct provider_version_files *files);

struct provider_version_row;
/* Appends the files of the version. */
int provider_version_files_read(struct store *store, const struct provider_version_row *version,
	struct provider_version_files *files, struct err *err);
/* Replaces the files that the row has. `key_id`, the id of a registry_gpg_keys row, and `checksums` ({file: SHA-256})
 * are NULL unless the signature is verified. ERR_CONFLICT if the version or the key was changed since the row was read.
 */
struct provider_version_change {
	const struct provider_version_files *files;
	const char *key_id;
	const json_t *checksums;
};
int provider_version_files_write(struct store *store, const struct provider_version_row *version,
	const struct provider_version_change *change, struct err *err);

/* The checksums of a SHA256SUMS: {file: hexadecimal digits}. ERR_INVALID with the number of a line that is neither
 * empty nor a checksum and a file's name. Pure; a new reference. */
int shasums_parse(struct bytes text, json_t **ret_checksums, struct err *err);

/* Deletes the version, with its platforms. */
int provider_version_delete(struct store *store, const char *id, struct err *err);

#endif
