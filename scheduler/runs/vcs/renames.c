/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/renames.h"

#include <stdio.h>

#include "common/vcs/address.h"
#include "scheduler/store/vcs/events/refs.h"

static void refuse(struct vcs_renamed *renamed, const char *why)
{
	renamed->is_error = true;
	text_copy(renamed->sentence, sizeof(renamed->sentence), why);
}

static int taken(struct store *store, const char *repository_id, const char *before, const char *name,
	struct vcs_renamed *ret_renamed, struct err *err)
{
	_cleanup_(freep) char *why = mem_printf(
		"The repository is %.150s at its provider now, but the connection has another repository of that name. "
		"Connect the workspaces and policy sets of %.150s to that one.",
		name, before);

	refuse(ret_renamed, why);
	return vcs_repository_note(store, repository_id, NULL, why, err);
}

int vcs_rename_follow(struct store *store, const char *repository_id, enum vcs_dialect dialect, const char *name,
	struct vcs_renamed *ret_renamed, struct err *err)
{
	struct vcs_renaming renaming = {.before = NULL};
	struct err why = ERR_INIT;
	int result = 0;

	*ret_renamed = (struct vcs_renamed){.changed = false};
	if (!name || !*name)
		return 0;
	if (vcs_identifier_check(dialect, name, &why) < 0) {
		refuse(ret_renamed, why.message);
		return 0;
	}
	if (vcs_repository_rename(store, repository_id, name, &renaming, err) < 0)
		return -1;
	ret_renamed->changed = renaming.changed;
	if (renaming.changed)
		snprintf(ret_renamed->sentence, sizeof(ret_renamed->sentence),
			"The repository was renamed from %.200s to %.200s.", renaming.before, name);
	if (renaming.taken)
		result = taken(store, repository_id, renaming.before, name, ret_renamed, err);
	free(renaming.before);
	return result;
}
