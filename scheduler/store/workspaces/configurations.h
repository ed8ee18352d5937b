/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_WORKSPACES_CONFIGURATIONS_H
#define SCHEDULER_STORE_WORKSPACES_CONFIGURATIONS_H

/*
 * Configuration versions. Their statuses: pending until the archive is uploaded, uploaded, archived after the files
 * were deleted, errored if the archive was rejected. A version that a run refers to is immutable.
 *
 * Those that came from a commit (store/vcs/events/commits.h) are pending until a run needs their files, fetching, and
 * archived whenever no run needs them. Users can't archive or delete them.
 */

#include "scheduler/store/store.h"

struct configuration_order {
	const char *workspace_id;
	const char *source;
	const char *created_by;
	bool auto_queue_runs, speculative, provisional;
};
/* Creates a version. It becomes the workspace's current one, unless it is speculative or provisional. */
int configuration_create(
	struct store *store, const struct configuration_order *order, struct id *ret_id, struct err *err);

/* The shape `configuration`: ingress_id is of its commit, run_id is the first run that used it. ERR_NOT_FOUND. */
int configuration_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* The same for many ids; unknown ids are skipped. The rows are available later (db_ask). */
int configurations_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* The configuration version of a run. ERR_NOT_FOUND. */
int configuration_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err);
/* The files of the workspace's current version: with its working directory. No row if there are none. */
int configuration_files_current(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err);
/* The newest first, and `total`; a row with a null id if the page is empty. */
int configurations_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err);

/* Stores the archive. *ret_first is false if the version has the same content already. ERR_CONFLICT if a run refers to
 * other content, or if the version is archived. */
int configuration_upload(struct store *store, const char *id, struct bytes archive, bool *ret_first, struct err *err);
/* Gives a new version files that are stored already. */
int configuration_set_files(struct store *store, const char *id, const char *blob_id, struct err *err);
/* Marks the version errored after a rejected upload. The upload may be retried. */
int configuration_refuse(struct store *store, const char *id, const char *why, struct err *err);
/* Deletes the files. ERR_CONFLICT "transition not allowed" if the version is not uploaded, is current or is in use. */
int configuration_archive(struct store *store, const char *id, struct err *err);

#endif
