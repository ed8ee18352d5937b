/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_OUTCOMES_H
#define SCHEDULER_RUNS_VCS_OUTCOMES_H

/* Decides one event for all workspaces and policy sets of its repository, and applies the outcomes. */

#include "scheduler/store/store.h"
#include "scheduler/store/vcs/events.sql.h"
#include "scheduler/store/vcs/repositories.h"
#include "scheduler/vcs/rules.h"

/* A workspace or policy set. Owns the JSON that the subject borrows. */
struct vcs_subject_reader {
	json_t *settings, *patterns;
	struct vcs_subject subject;
};

/* An event while it is decided, in a transaction that has locked its repository. */
struct vcs_decision {
	struct store *store;
	const struct vcs_event_pick_row *row;
	const char *id, *repository_id;
	const json_t *detail; /* of the row */
	struct vcs_event event;
	struct rows subjects;
	struct vcs_subject_reader *readers; /* one for each row of `subjects`; NULL: not loaded */
	bool closed;                        /* the pull request is closed in the database */
	bool late;                          /* a newer event of the pull request came first */
};

/* Reads the workspaces and policy sets that the event may affect. */
int vcs_subjects_load(struct vcs_decision *d, struct err *err);
void vcs_subjects_release(struct vcs_decision *d);
/* True if the changed files matter to one of them, and are not known. */
bool vcs_files_wanted(const struct vcs_decision *d);
/* Makes configuration versions, runs and versions of policy sets, ends earlier runs, and ends the event. */
int vcs_outcomes_apply(struct vcs_decision *d, struct err *err);

/* Adds clone-url and commit-url if they are missing, as in events of looks. */
void vcs_ingress_complete(json_t *detail, struct vcs_place_columns repository, const char *sha);

#endif
