/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_PLANS_PLAN_SUMMARY_H
#define SCHEDULER_RUNS_PLANS_PLAN_SUMMARY_H

/*
 * Makes the summary and the redacted changes of a plan from `terraform show -json`. The document is hostile: only one
 * change at a time is parsed, and each result has a bound. A change that is too large or can't be parsed keeps its row,
 * without its values.
 */

#include "common/json/json_scan.h"
#include "scheduler/store/runs/plans/plan_changes.h"

enum {
	MAX_CHANGE_PARSED = 4 << 20, /* bytes of a change whose values are shown */
	MAX_CHECKS = 1000,
	MAX_ACTIONS = 32, /* that are counted by name */
};

/* Fills an empty draft. `secrets` is an array of texts. ERR_INVALID if the document is not an object in JSON. */
int plan_summarize(struct json_span plan, const json_t *secrets, struct plan_changes_draft *ret_draft, struct err *err);

#endif
