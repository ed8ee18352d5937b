/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_RENAMES_H
#define SCHEDULER_RUNS_VCS_RENAMES_H

/*
 * A repository that is renamed or moved at its provider keeps its workspaces, its policy sets and its webhook, since
 * the provider's id of it stays. git follows no redirect, so the new name has to be known here. The provider's API is
 * asked for it when a look fails, and when a payload has another name. Some providers send an event of it.
 */

#include "common/vcs/dialect.h"
#include "scheduler/store/store.h"

enum { VCS_RENAME_SENTENCE = 500 };

struct vcs_renamed {
	bool changed;                           /* it has the new name now */
	bool is_error;                          /* it can't have it */
	char sentence[VCS_RENAME_SENTENCE + 1]; /* "": it has that name */
};

/* Gives the repository the name that the provider has for it ("" and NULL: it did not tell). Joins the open
 * transaction. */
int vcs_rename_follow(struct store *store, const char *repository_id, enum vcs_dialect dialect, const char *name,
	struct vcs_renamed *ret_renamed, struct err *err);

#endif
