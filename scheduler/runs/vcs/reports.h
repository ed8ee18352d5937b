/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_REPORTS_H
#define SCHEDULER_RUNS_VCS_REPORTS_H

/* Tells providers about commits: statuses, comments and hooks (store/vcs/{reports,comments,hooks}.h). */

#include "scheduler/store/store.h"

/* The event is worked on, or waits for an approval, or its pull request was closed: the statuses of its commit and the
 * comment of its pull request are created or renewed, about a second after the commit of the caller's transaction. */
int vcs_reports_begin(struct store *store, const char *event_id, struct err *err);
/* Creates the calls that are due. For a background thread, about once a second. */
int vcs_reports_sweep(struct store *store, struct err *err);
/* Creates the calls for hooks, and those that try credentials and repositories again. Every few seconds. */
int vcs_hooks_sweep(struct store *store, struct err *err);

#endif
