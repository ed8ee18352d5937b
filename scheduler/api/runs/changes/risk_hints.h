/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_CHANGES_RISK_HINTS_H
#define SCHEDULER_API_RUNS_CHANGES_RISK_HINTS_H

/* Risk hints: how many resources of the organization's types a plan destroys or replaces. */

#include "common/err.h"
#include "common/json/json.h"

enum { MAX_RISK_TYPES = 100, MAX_RISK_TYPE = 128 };

/* Checks the setting: null, or an array of distinct types of [a-z0-9_]. ERR_INVALID with a pointer. */
int risk_types_check(const json_t *types, struct err *err);
/* [{"type", "action", "count"}] in the order of the types, from the rows of a summary's resource-changes. `action` is
 * delete or replace. A new reference. */
json_t *risk_hints(const json_t *types, const json_t *rows);

#endif
