/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_HEADS_H
#define SCHEDULER_STORE_VCS_EVENTS_HEADS_H

/* The outcomes of events in workspaces and policy sets, and the runs of earlier commits. The heads remember commits:
 * each makes one configuration version in a workspace for each kind of event. */

#include "scheduler/store/store.h"

/* A commit as the heads have it. Texts are borrowed. */
struct vcs_head {
	const char *event_id;   /* that brings it */
	const char *kind;       /* push, tag, pull_request */
	long long pull_request; /* 0: none */
	const char *sha;
};

/*
 * The workspaces and policy sets that are attached to the repository, by id; with a subject, only that one. Columns:
 * id, policy_set, branch, tags_regex, submodules, settings, folder, patterns, locked, had_run, cancels (the
 * organization's speculative-plan-management-enabled), has_head (the commit was here before), head_newer
 * (it came by another event since this one was made), head_canceled (its run was canceled), has_fork_pool (the
 * connection names an agent pool for plans of forks, which is not the workspace's own), has_version (the newest version
 * of the policy set is of this commit and this event).
 */
int vcs_subjects_read(struct store *store, const char *repository_id, const char *subject_id,
	const struct vcs_head *head, struct rows *ret_rows, struct err *err);

/* One outcome: {subject_id, reason, run_id, configuration_version_id}; the last two may be null or missing. Replaces
 * earlier outcomes of the event. Of outcomes with a configuration version, `head` (NULL for policy sets) remembers the
 * commit. */
int vcs_outcomes_write(struct store *store, const char *event_id, const json_t *outcomes, struct err *err);
int vcs_heads_write(struct store *store, const struct vcs_head *head, const json_t *outcomes, struct err *err);

/* Runs of earlier commits in these workspaces; column id. */
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
