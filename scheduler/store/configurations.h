/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONFIGURATIONS_H
#define SCHEDULER_STORE_CONFIGURATIONS_H

/*
 * Configuration versions: pending until their archive came, uploaded, archived once nobody needs the files, errored if
 * what came was refused. What a run refers to does not change any more.
 */

#include "scheduler/store/store.h"

struct configuration_order {
	const char *workspace_id;
	const char *source;
	const char *created_by;
	bool auto_queue_runs, speculative, provisional;
};
/* The workspace's current one from now on, unless it is speculative or provisional. */
int configuration_create(
	struct store *store, const struct configuration_order *order, struct id *ret_id, struct err *err);

/* The table's columns and run_id, the first that was made of it. ERR_NOT_FOUND. */
int configuration_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same of many ids, those that are there; for later (db_ask). */
int configurations_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The one that a run was made of. ERR_NOT_FOUND. */
int configuration_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* The newest first, and `total`; a row with a null id if the page is empty. */
int configurations_list(struct store *store, const char *workspace_id, long long limit, long long offset,
	struct rows *ret_rows, struct err *err);

/* Keeps the archive. *ret_first is false if the same content was here already. ERR_CONFLICT if there is other content
 * that a run refers to, or if it is archived. */
int configuration_upload(
	struct store *store, const char *id, const void *bytes, size_t len, bool *ret_first, struct err *err);
/* The upload was refused; it may be tried again. */
int configuration_refuse(struct store *store, const char *id, const char *why, struct err *err);
/* Lets the files go. ERR_CONFLICT "transition not allowed" for one that is not uploaded, current or in use. */
int configuration_archive(struct store *store, const char *id, struct err *err);

#endif
