/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_REPORTS_H
#define SCHEDULER_RUNS_VCS_REPORTS_H

/* Creates the calls that send statuses and comments to providers, and those for hooks (store/vcs/calls/). */

#include "scheduler/store/store.h"

/* Creates the calls that are due. For a background thread, about once a second. */
int vcs_reports_sweep(struct store *store, struct err *err);
/* Creates the calls for hooks, and those that check credentials and repositories. Every few seconds. */
int vcs_hooks_sweep(struct store *store, struct err *err);

#endif
