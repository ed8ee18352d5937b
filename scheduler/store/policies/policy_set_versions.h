/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICIES_POLICY_SET_VERSIONS_H
#define SCHEDULER_STORE_POLICIES_POLICY_SET_VERSIONS_H

/*
 * Uploaded versions of policy sets, each an archive. A version is pending until its upload, then ready, or errored if
 * the upload was rejected. A set's newest version is the one created last. Its current version, which applies to runs,
 * is the last one that is ready.
 *
 * Versions from commits are ingressing until their files are fetched.
 *
 * Rows are policy_set_version_row.
 */

#include "scheduler/store/store.h"

/* ERR_CONFLICT for a set that has individual policies. */
int policy_set_version_create(struct store *store, const char *policy_set_id, struct id *ret_id, struct err *err);
/* ERR_NOT_FOUND. */
int policy_set_version_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* A set's versions, the newest first, with `total`; a row with a null id if the page is empty. */
int policy_set_versions_list(struct store *store, const char *policy_set_id, struct list_range range,
	struct rows *ret_rows, struct err *err);
/* Reads the versions with these ids. The rows are available later (db_ask). */
int policy_set_versions_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* Stores the archive. The same content may be uploaded again. ERR_CONFLICT for different content if the version is
 * ready. */
int policy_set_version_upload(struct store *store, const char *id, const void *bytes, size_t len, struct err *err);
/* Marks the version errored after a rejected upload. The upload may be retried. */
int policy_set_version_refuse(struct store *store, const char *id, const char *why, struct err *err);

#endif
