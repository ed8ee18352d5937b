/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_HEADS_H
#define SCHEDULER_STORE_VCS_EVENTS_HEADS_H

/* The outcomes of events in workspaces and policy sets, and the runs of earlier commits. The table vcs_heads has the
 * commits that made a configuration version: once per workspace and kind of event. */

#include "scheduler/store/store.h"

/* A commit in vcs_heads. Texts are borrowed. */
struct vcs_head {
	const char *event_id;   /* the event that has the commit */
	const char *kind;       /* push, tag, pull_request */
	long long pull_request; /* 0: none */
	const char *sha;
};

/*
 * Reads the workspaces and policy sets that are attached to the repository, by id; with a subject, only that one.
 * Rows `vcs_subject`. Of their columns:
 *
 *  - cancels: the organization's setting speculative-plan-management-enabled.
 *  - has_head: the commit is in vcs_heads.
 *  - head_newer: another event has brought the commit since this event was made.
 *  - head_canceled: the run of the commit was canceled.
 *  - head_ended: the run of the commit has ended.
 *  - has_fork_pool: the connection has an agent pool for forks, and it is not the workspace's pool.
 *  - is_made: this event has started a run of the workspace, or the newest version of the policy set.
 */
int vcs_subjects_read(struct store *store, const char *repository_id, const char *subject_id,
	const struct vcs_head *head, struct rows *ret_rows, struct err *err);

/* Writes outcomes: {subject_id, reason, run_id, configuration_version_id}. The last two may be null or missing.
 * Replaces earlier outcomes of the event in the same subjects, but for those with a run. */
int vcs_outcomes_write(struct store *store, const char *event_id, const json_t *outcomes, struct err *err);
/* Adds the commit to vcs_heads for the outcomes with a configuration version. */
int vcs_heads_write(struct store *store, const struct vcs_head *head, const json_t *outcomes, struct err *err);

/* Runs of earlier commits in these workspaces: rows `vcs_earlier_run`. */
enum vcs_earlier {
	VCS_EARLIER_PENDING, /* pending runs of pushes to the branch, of other commits */
	VCS_EARLIER_HEADS,   /* plan-only runs of other heads of the pull request that have not ended */
	VCS_EARLIER_ALL,     /* all plan-only runs of the pull request that have not ended */
};
struct vcs_earlier_runs {
	enum vcs_earlier which;
	struct db_array *workspace_ids;
	const char *branch, *sha;
	long long pull_request;
};
int vcs_earlier_runs_read(
	struct store *store, const struct vcs_earlier_runs *runs, struct rows *ret_rows, struct err *err);

#endif
