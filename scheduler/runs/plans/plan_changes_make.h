/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_PLANS_PLAN_CHANGES_MAKE_H
#define SCHEDULER_RUNS_PLANS_PLAN_CHANGES_MAKE_H

#include "scheduler/store/runs/plans/plan_changes.h"

enum { MAX_PLAN_JSON = 256 << 20 };

/* Makes the changes of a plan that has its JSON, and stores them. Fills an empty draft. ERR_TOO_LARGE for a JSON over
 * MAX_PLAN_JSON bytes, ERR_INVALID for one that can't be read. */
int plan_changes_make(struct store *store, const char *plan_id, const struct plan_changes_lookup_row *plan,
	struct plan_changes_draft *ret_draft, struct err *err);

#endif
