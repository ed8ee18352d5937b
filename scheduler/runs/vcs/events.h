/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_EVENTS_H
#define SCHEDULER_RUNS_VCS_EVENTS_H

/* What git jobs tell of a repository. All functions join the open transaction. */

#include "scheduler/store/store.h"

/* The refs that the repository has now: {"refs/heads/main": sha}. Tags name commits. `looked_at` of the repository is
 * still that of the last look. */
int vcs_refs_seen(struct store *store, const char *repository_id, const json_t *refs, struct err *err);
/* The repository could not be looked at: a sentence. */
int vcs_look_failed(struct store *store, const char *repository_id, const char *sentence, struct err *err);
/* The paths that an event's commits changed: an array of texts. NULL: they can't be had, `note` says why. */
int vcs_files_known(struct store *store, const char *event_id, const json_t *files, const char *note, struct err *err);
/* Message and author of a commit, which git has read: {message, author}. */
int vcs_commit_known(
	struct store *store, const char *repository_id, const char *sha, const json_t *commit, struct err *err);

#endif
