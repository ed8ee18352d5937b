/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_RENAMES_H
#define SCHEDULER_RUNS_VCS_RENAMES_H

/*
 * Follows repositories that are renamed or moved at their provider. The provider's id of a repository stays, so it
 * keeps its workspaces, policy sets and webhook. git needs the new name, because it follows no redirects. The scheduler
 * requests the name from the provider's API when a look fails, and when a payload has another name. Some providers send
 * an event with the new name.
 */

#include "common/vcs/dialect.h"
#include "scheduler/store/store.h"

enum { VCS_RENAME_SENTENCE = 500 };

struct vcs_renamed {
	bool changed;                           /* the repository was renamed */
	bool is_error;                          /* the name is not valid, or another repository has it */
	char sentence[VCS_RENAME_SENTENCE + 1]; /* for users; "": the name was not new */
};

/* Renames the repository in the database. `name` is the provider's; NULL and "" change nothing. Joins the open
 * transaction. */
int vcs_rename_follow(struct store *store, const char *repository_id, enum vcs_dialect dialect, const char *name,
	struct vcs_renamed *ret_renamed, struct err *err);

#endif
