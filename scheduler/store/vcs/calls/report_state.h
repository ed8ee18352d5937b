/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_CALLS_REPORT_STATE_H
#define SCHEDULER_STORE_VCS_CALLS_REPORT_STATE_H

/* Computes the status of a commit from its runs. Pure. */

#include "common/base.h"
#include "proto/states.h"

enum report_state { REPORT_SUCCESS, REPORT_PENDING, REPORT_ERROR, REPORT_FAILURE, REPORT_STATES };

/* "success", "pending", "error", "failure". */
extern const char *const report_state_names[REPORT_STATES];

/* The part of a run that a status is about. */
enum report_scope { REPORT_ALL, REPORT_PLAN, REPORT_CHECKS, REPORT_APPLY };

/* The stages that are checks: the bits of a run's stages. */
#define REPORT_CHECK_STAGES                                                                                            \
	(STAGE_BIT(STAGE_POST_PLAN) | STAGE_BIT(STAGE_OPA) | STAGE_BIT(STAGE_COST) | STAGE_BIT(STAGE_SENTINEL))

struct report_run {
	int status;        /* enum run_status */
	int stage;         /* enum stage: the current one, or the last */
	unsigned stages;   /* STAGE_BITs */
	bool lost;         /* it ended because its worker was lost */
	bool tests_failed; /* tests of a module ran, and not all passed */
};

/* A run counts as passed when its plan and its checks have passed. Only REPORT_APPLY considers its apply. */
enum report_state report_state_of(const struct report_run *run, enum report_scope scope);

/* Runs by their state, with the name of a workspace for each. */
struct report_counts {
	long long count[REPORT_STATES];
	const char *workspace[REPORT_STATES]; /* borrowed; NULL: none */
	bool undecided;                       /* an event of the commit is not decided yet */
	bool unapproved;                      /* an event waits for a user's approval */
	bool broken;                          /* an event ended with an error */
	bool applies;                         /* the scope is REPORT_APPLY */
};

/* The state of the commit, and a sentence for users. */
enum { REPORT_DESCRIPTION_SIZE = 256 };
enum report_state report_sum(const struct report_counts *counts, char ret_description[REPORT_DESCRIPTION_SIZE]);

#endif
