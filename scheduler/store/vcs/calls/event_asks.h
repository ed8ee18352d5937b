/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_EVENT_ASKS_H
#define SCHEDULER_STORE_VCS_CALLS_EVENT_ASKS_H

/*
 * Requests of a provider's API that an event needs before it is decided. The event waits for the answer
 * (event_reads.h):
 *
 *  - commit: the full hash of a pull request's head. The payload had only its first digits. The state is `looking`.
 *  - files: the changed files. git could not list them. The state is `comparing`.
 */

#include "scheduler/store/store.h"

/* Requests the commit. */
int vcs_commit_ask(struct store *store, const char *event_id, const char *repository_id, struct err *err);
/* Requests the files. `why` is the reason of git's failure. *ret_asked is false if the provider has no API, or if the
 * event does not wait any more. */
int vcs_files_ask(struct store *store, const char *event_id, const char *why, bool *ret_asked, struct err *err);

/* Ends waits that took too long. Without the files, all workspaces count as touched. Without its commit, an event ends
 * with an error. */
int vcs_event_reads_expire(struct store *store, struct err *err);

#endif
