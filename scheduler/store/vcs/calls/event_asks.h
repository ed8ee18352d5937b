/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_EVENT_ASKS_H
#define SCHEDULER_STORE_VCS_CALLS_EVENT_ASKS_H

/*
 * What an event needs of the provider's API before it is decided. It waits for the answer (event_reads.h):
 *
 *  - commit  the full hash of a pull request's head, of which the provider told only the beginning (`looking`)
 *  - files   the changed files, if git could not tell them (`comparing`)
 */

#include "scheduler/store/store.h"

/* Asks for the commit. */
int vcs_commit_ask(struct store *store, const char *event_id, const char *repository_id, struct err *err);
/* Asks for the files; `why` says why git could not tell them. *ret_asked is false if the provider has no API. */
int vcs_files_ask(struct store *store, const char *event_id, const char *why, bool *ret_asked, struct err *err);

/* Ends waits that were too long: without the files all workspaces count as touched, and an event without its commit
 * ends. */
int vcs_event_reads_expire(struct store *store, struct err *err);

#endif
