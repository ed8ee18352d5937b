/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_REPORTS_H
#define SCHEDULER_STORE_VCS_CALLS_REPORTS_H

/*
 * The statuses of commits. A row of vcs_reports per context records that a status is due, but not its content. The
 * scheduler computes the content from the commit's runs when a notifier claims the call. So a status is never older
 * than its call.
 *
 * By default a commit has one context, "Runyard/<organization>". If the organization's setting
 * aggregated-commit-status-enabled is false, each workspace has one for the plan and one for its checks. With
 * vcs-apply-status-enabled, commits of branches and tags have one more. It ends in "/apply" and shows the applies.
 */

#include "scheduler/store/vcs/calls/call.h"

/* Records that an event's outcomes were stored or changed. About a second after the open transaction has committed, the
 * reaper creates or renews the statuses of the event's commit and the comment of its pull request. */
int vcs_event_note(struct store *store, const char *event_id, struct err *err);
/* Records that runs have changed. `rows`: objects with id and status. Every transaction that changes runs calls it, so
 * it queues one statement at most, and none for statuses of runs that no commit status shows. */
int vcs_runs_note(struct store *store, const json_t *rows, struct err *err);

/* Handles recorded events: creates the contexts of their commits and the comments of their pull requests, or new
 * versions of them. *ret_count: the number of events. */
int vcs_notes_apply(struct store *store, int *ret_count, struct err *err);
/* Creates the calls of reports that are due. */
int vcs_reports_enqueue(struct store *store, struct err *err);

/* Prepares a claimed call: the status to send. */
int vcs_report_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err);
/* Records that the provider has accepted the status. */
int vcs_report_sent(struct store *store, const struct vcs_claimed *call, struct err *err);
/* Records that the provider refuses the status. Only a new version is sent again. */
int vcs_report_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err);

#endif
