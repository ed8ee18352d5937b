/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/reports.h"

#include "scheduler/store/vcs/calls/calls.h"
#include "scheduler/store/vcs/calls/comments.h"
#include "scheduler/store/vcs/calls/hooks.h"
#include "scheduler/store/vcs/calls/removals.h"
#include "scheduler/store/vcs/calls/reports.h"

enum { MAX_ROUNDS = 20 };

int vcs_reports_sweep(struct store *store, struct err *err)
{
	int count = 1;

	for (int round = 0; count > 0 && round < MAX_ROUNDS; round++)
		if (vcs_notes_apply(store, &count, err) < 0)
			return -1;
	if (vcs_calls_rescue(store, err) < 0 || vcs_reports_enqueue(store, err) < 0)
		return -1;
	return vcs_comments_enqueue(store, err);
}

int vcs_hooks_sweep(struct store *store, struct err *err)
{
	if (vcs_removals_expire(store, err) < 0 || vcs_checks_enqueue(store, err) < 0)
		return -1;
	return vcs_hooks_enqueue(store, err);
}
