/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_ASSESSMENTS_FINDINGS_H
#define SCHEDULER_RUNS_ASSESSMENTS_FINDINGS_H

/*
 * The findings of an assessment, from the summary of its plan (runs/plans/plan_summary.h). Pure.
 *
 * A resource has drifted if it differs from the state, and a change of the plan depends on what differs: the
 * configuration does not match any more. A difference that `ignore_changes` hides, that the configuration does not set,
 * or that only outputs show, is no drift.
 */

#include "common/crypto.h"
#include "common/json/json.h"

struct findings {
	long long drifted; /* resources */
	long long checks_passed, checks_failed, checks_errored, checks_unknown;
	/* Of the resources that drifted and how, and of the checks that failed; "": none. */
	char drift_digest[SHA256_HEX_SIZE], checks_digest[SHA256_HEX_SIZE];
};

struct findings findings_of(const json_t *summary);

#endif
