/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_POLICY_SET_VERSIONS_H
#define SCHEDULER_STORE_POLICY_SET_VERSIONS_H

/*
 * What a policy set was in the course of time, as archives: pending until one came, then ready, or errored if what came
 * was refused. The set's newest version is the one made last; its current one, which runs are checked with, the last
 * of those that are ready.
 *
 * Columns read: the table's and organization_id.
 */

#include "scheduler/store/store.h"

/* ERR_CONFLICT for a set that has single policies. */
int policy_set_version_create(struct store *store, const char *policy_set_id, struct id *ret_id, struct err *err);
/* ERR_NOT_FOUND. */
int policy_set_version_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* Those with these ids; for later (db_ask). */
int policy_set_versions_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* Keeps the archive. The same content may come again; ERR_CONFLICT for other content of one that is ready. */
int policy_set_version_upload(struct store *store, const char *id, const void *bytes, size_t len, struct err *err);
/* The upload was refused; it may be tried again. */
int policy_set_version_refuse(struct store *store, const char *id, const char *why, struct err *err);

#endif
