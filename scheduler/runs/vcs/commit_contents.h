/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_COMMIT_CONTENTS_H
#define SCHEDULER_RUNS_VCS_COMMIT_CONTENTS_H

/*
 * The end of a fetch: all runs, policy sets and modules that wait for the content of a commit go on, or end, in one
 * batch.
 *
 * These functions join the open transaction, or begin one. They lock the content first, then workspaces, so the caller
 * must not hold the lock of a workspace. If the content was deleted meanwhile, they change nothing and return 0. A
 * repeated call has no further effect.
 */

#include "scheduler/store/store.h"

/* The blob has the files. `hash` is the SHA-256 of the tar before its compression, in hex; `size` is the tar's. */
struct stored_content {
	const char *content_id, *blob_id, *hash;
	long long size;
};
int content_stored(struct store *store, const struct stored_content *content, struct err *err);
/* The fetch has failed. The sentence is for users and becomes the error of the runs: "Plan Errored". */
int content_failed(struct store *store, const char *content_id, const char *sentence, struct err *err);
/* Fails all contents of the connection's repositories that are waited for. Call it before the repositories are deleted,
 * in the same transaction: the deletion also deletes the contents and their fetches, so nothing could end the wait. */
int connection_contents_failed(struct store *store, const char *connection_id, const char *sentence, struct err *err);

#endif
