/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_REFS_H
#define SCHEDULER_STORE_VCS_EVENTS_REFS_H

/* The last known state of a repository: its refs and its pull requests, from looks and events. The callers hold the
 * repository's lock (vcs_repository_lock, vcs_event_pick). */

#include "scheduler/store/store.h"

/* Locks the repository, and reads its columns of vcs_event_pick, and look_began: when the worker claimed the look whose
 * result is being stored. No row if it was deleted. */
int vcs_repository_lock(struct store *store, const char *repository_id, struct rows *ret_rows, struct err *err);
/* Makes the git jobs of the looks that are due. Outside of a transaction. */
int vcs_looks_due(struct store *store, struct err *err);
/* Makes a look at the repository due now, and wakes the VCS threads, which make its job. */
int vcs_look_now(struct store *store, const char *repository_id, struct err *err);

/* {name: sha} of all refs; "": deleted. *ret_newer: the refs that an event has changed since `began`. A look that began
 * then may have older values of them. New references. */
int vcs_refs_read(struct store *store, const char *repository_id, const char *began, json_t **ret_refs,
	json_t **ret_newer, struct err *err);
/* The shas of a ref, and of a second one. "" if they are not known. */
struct vcs_seen {
	char ref[80], other[80];
};
int vcs_ref_read(struct store *store, const char *repository_id, const char *ref, const char *other,
	struct vcs_seen *ret_seen, struct err *err);
/* Replaces all refs except those that have changed since `began`. */
int vcs_refs_write(
	struct store *store, const char *repository_id, const char *began, const json_t *refs, struct err *err);
/* Sets one ref; "": it was deleted. */
int vcs_ref_write(struct store *store, const char *repository_id, const char *ref, const char *sha, struct err *err);
/* The short names of the branches that workspaces and policy sets follow; "" is the default branch. Column branch. */
int vcs_branches_followed(struct store *store, const char *repository_id, struct rows *ret_rows, struct err *err);

/* The branch that a workspace or policy set follows, "" for the default one; NULL if it is not attached to the
 * repository. To be freed. */
int vcs_subject_branch(
	struct store *store, const char *repository_id, const char *subject_id, char **ret_branch, struct err *err);

/* Columns number, head_sha, state, detail. With number 0: all open pull requests that have not changed
 * since `began`. */
int vcs_pull_requests_read(struct store *store, const char *repository_id, long long number, const char *began,
	struct rows *ret_rows, struct err *err);
/* Open pull requests with that head: columns number, detail. */
int vcs_pull_requests_of_head(
	struct store *store, const char *repository_id, const char *sha, struct rows *ret_rows, struct err *err);
struct vcs_pull_request {
	const char *repository_id, *head_sha;
	long long number;
	bool is_open;
	const json_t *detail;
};
int vcs_pull_request_write(struct store *store, const struct vcs_pull_request *pull_request, struct err *err);

/* *ret_came: a branch, a tag or a pull request of the repository had the commit. Pull requests of forks do not count.
 * The server's answer can't decide this, because it may return commits of forks as if they were the repository's. */
int vcs_commit_came(struct store *store, const char *repository_id, const char *sha, bool *ret_came, struct err *err);

/* Changes the repository's identifier, unless the connection has another repository with it (`taken`). */
struct vcs_renaming {
	bool changed, taken;
	char *before; /* the previous identifier; the caller frees it */
};
int vcs_repository_rename(struct store *store, const char *repository_id, const char *identifier,
	struct vcs_renaming *ret_renaming, struct err *err);
/* Sets the default branch, unless it is NULL or "". With an error (NULL: none), the repository becomes errored. */
int vcs_repository_note(
	struct store *store, const char *repository_id, const char *default_branch, const char *error, struct err *err);
/* Requests the repository's current name from the provider, by the provider's id. Does nothing if the id is not known.
 */
int vcs_repository_doubt(struct store *store, const char *repository_id, struct err *err);

#endif
