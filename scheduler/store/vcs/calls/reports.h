/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_REPORTS_H
#define SCHEDULER_STORE_VCS_CALLS_REPORTS_H

/*
 * The statuses of commits. A row per context says that there is something to tell, not what: that is computed from the
 * runs of the commit when the call is claimed. So a status is never older than its call.
 *
 * By default a commit has one context, "Runyard/<organization>". If the organization's setting
 * aggregated-commit-status-enabled is false, each workspace has one for the plan and one for its checks. With
 * vcs-apply-status-enabled, the commits of branches and tags have another, with "/apply", for what becomes of the
 * applies.
 */

#include "scheduler/store/vcs/calls/call.h"

/* Records that an event's outcomes were stored, or changed: the statuses of its commit and the comment of its pull
 * request are created or renewed, about a second after the commit of the open transaction. */
int vcs_event_note(struct store *store, const char *event_id, struct err *err);
/* Records that runs have changed: `rows` are objects with id and status. For every transaction of runs, so it costs one
 * statement without a wait, and none while runs only go on to their plan's end. */
int vcs_runs_note(struct store *store, const json_t *rows, struct err *err);

/* Creates the contexts of the commits of these events, and the comments of their pull requests, or new versions of
 * those that are there. Returns how many events there were. */
int vcs_notes_apply(struct store *store, int *ret_count, struct err *err);
/* Creates the calls of reports that are due. */
int vcs_reports_enqueue(struct store *store, struct err *err);

/* For a claimed call: the status to send. */
int vcs_report_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
/* The provider has the status. */
int vcs_report_sent(struct store *store, const struct vcs_claimed *call, struct err *err);
/* The provider refuses it: it is not sent again until there is a new version. */
int vcs_report_refused(struct store *store, const struct vcs_claimed *call, const char *why, struct err *err);

#endif
