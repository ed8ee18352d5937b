/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CONTENTS_H
#define SCHEDULER_STORE_VCS_CONTENTS_H

/*
 * The files of commits (vcs_contents), which all configuration versions of a commit share. A content is stored, or a
 * git job fetches it when a run or a policy set needs it.
 *
 * The row's lock serializes transactions that need a content and transactions that store or delete it:
 *  - A transaction that creates runs holds it in share mode from before it locks workspaces until it commits.
 *  - A transaction that stores, fails or deletes a content holds it exclusively, also from before it locks workspaces.
 * So the second finds every run of the first, or the first finds the content that the second has stored.
 */

#include "scheduler/store/store.h"

/* ---- for transactions that need a content ---- */

/* Locks contents in share mode: those of the configuration versions, and of the workspaces' current ones. */
int vcs_contents_share(
	struct store *store, struct db_array *configuration_ids, struct db_array *workspace_ids, struct err *err);
/* The same for contents by their ids: whether each is stored. */
int vcs_contents_read_shared(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err);
/* Lets configuration versions wait for their contents: sets those that are not uploaded to `fetching`, and creates the
 * missing git jobs. */
int vcs_contents_fetch(struct store *store, struct db_array *configuration_ids, struct err *err);
/* Gives stored contents to configuration versions that are not uploaded. */
int vcs_contents_take(struct store *store, struct db_array *configuration_ids, struct err *err);

/* ---- for transactions that store or delete a content ---- */

/* A fetched content. The texts are borrowed. */
struct vcs_content {
	const char *id, *blob_id;
	const char *hash; /* of the tar, in hex */
	long long size;   /* of the tar, in bytes */
};

/* Stores the content, and gives it to the configuration versions that wait for it. *ret_differs: an earlier fetch of
 * the commit had another hash. *ret_known is false if there is no such content any more; nothing is changed then. */
int vcs_content_store(
	struct store *store, const struct vcs_content *content, bool *ret_known, bool *ret_differs, struct err *err);
/* Marks the content, and the configuration versions that wait for it, as errored. */
int vcs_content_fail(struct store *store, const char *id, const char *sentence, bool *ret_known, struct err *err);
/* Locks the contents of the connection's repositories, and returns those that something waits for: vcs_content_id_row.
 * Until the transaction ends, nothing can begin to wait for one of them, and no content is added. */
int vcs_contents_of_connection(struct store *store, const char *connection_id, struct rows *ret_rows, struct err *err);
/* Runs of the content that have not ended and have the stage of fetching. */
int vcs_content_runs(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

/* Archives configuration versions from commits when no run needs them any more. Deletes contents when no configuration
 * version needs them. Gives up fetches when no run and no policy set waits for them. Handles at most one batch. */
int vcs_contents_sweep(struct store *store, struct err *err);

#endif
