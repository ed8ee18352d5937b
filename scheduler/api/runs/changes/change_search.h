/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_CHANGES_CHANGE_SEARCH_H
#define SCHEDULER_API_RUNS_CHANGES_CHANGE_SEARCH_H

/* Searches the values of a plan's redacted changes. Blanked values are null, so nothing matches inside of them. */

#include "common/json/json.h"
#include "scheduler/store/runs/plans/plan_changes.h"

enum { MAX_SEARCHED = 256 };

/* Returns the summary with only the rows of changes that have a value with the text, before or after; ASCII letters
 * match both cases. The summary's parts without an index are kept. Takes the summary. */
json_t *changes_filter(json_t *summary, const struct plan_changes_draft *stored, const char *text);

#endif
