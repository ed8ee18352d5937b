/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_OUTCOMES_H
#define SCHEDULER_RUNS_VCS_OUTCOMES_H

/* What one event does in all workspaces and policy sets of its repository. */

#include "scheduler/store/store.h"
#include "scheduler/vcs/rules.h"

/* A workspace or policy set, with what it borrows. */
struct vcs_subject_reader {
	json_t *settings, *patterns;
	struct vcs_subject subject;
};

/* An event while it is decided, in a transaction that has locked its repository. */
struct vcs_decision {
	struct store *store;
	const struct rows *row; /* of vcs_event_pick */
	const char *id, *repository_id;
	const json_t *detail; /* of the row */
	struct vcs_event event;
	struct rows subjects;
	struct vcs_subject_reader *readers; /* of each row of `subjects`; NULL: they are not loaded */
	bool approved;                      /* a user approved this head of a fork */
	bool closed;                        /* the pull request is closed, as far as is known */
	bool late;                          /* the pull request's event came after a newer one */
};

/* Reads the workspaces and policy sets that the event may mean. */
int vcs_subjects_load(struct vcs_decision *d, struct err *err);
void vcs_subjects_release(struct vcs_decision *d);
/* Whether the changed files matter to one of them, and are not known. */
bool vcs_files_wanted(const struct vcs_decision *d);
/* Makes configuration versions, runs and versions of policy sets, ends earlier runs, and ends the event. */
int vcs_outcomes_apply(struct vcs_decision *d, struct err *err);

/* Sets clone-url and commit-url, unless they are there: looks do not tell them. `repository` is as vcs_place_of_row
 * takes it. */
void vcs_ingress_complete(json_t *detail, const struct rows *repository, const char *sha);

#endif
