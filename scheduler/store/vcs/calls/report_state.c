/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/report_state.h"

#include <stdio.h>

const char *const report_state_names[REPORT_STATES] = {[REPORT_SUCCESS] = "success",
	[REPORT_PENDING] = "pending",
	[REPORT_ERROR] = "error",
	[REPORT_FAILURE] = "failure"};

/* True if the run has one of these stages behind its current one. */
static bool stage_follows(const struct report_run *run, unsigned mask)
{
	for (int stage = run->stage + 1; stage < STAGE_COUNT; stage++)
		if (run->stages & mask & STAGE_BIT(stage))
			return true;
	return false;
}

/* True if all stages up to the end of the scope have passed. */
static bool is_past(const struct report_run *run, enum report_scope scope)
{
	if (run->stage == STAGE_NONE) /* before the first */
		return false;
	return run->stage > (scope == REPORT_PLAN ? STAGE_PLAN : STAGE_SENTINEL);
}

/* The run has ended without its purpose. */
static enum report_state state_of_end(const struct report_run *run, enum report_scope scope)
{
	if (is_past(run, scope))
		return REPORT_SUCCESS;
	return run->lost ? REPORT_ERROR : REPORT_FAILURE;
}

/* A discarded plan is a failure, because its commit is not applied. */
static enum report_state state_of_apply(const struct report_run *run)
{
	switch (run->status) {
	case RUN_APPLIED:
	case RUN_PLANNED_AND_FINISHED:
		return REPORT_SUCCESS;
	case RUN_ERRORED:
	case RUN_CANCELED:
	case RUN_FORCE_CANCELED:
		return run->lost ? REPORT_ERROR : REPORT_FAILURE;
	case RUN_DISCARDED:
	case RUN_POLICY_SOFT_FAILED:
		return REPORT_FAILURE;
	default:
		return REPORT_PENDING;
	}
}

enum report_state report_state_of(const struct report_run *run, enum report_scope scope)
{
	if (scope == REPORT_APPLY)
		return state_of_apply(run);
	switch (run->status) {
	case RUN_ERRORED:
	case RUN_CANCELED:
	case RUN_FORCE_CANCELED:
		return state_of_end(run, scope);
	case RUN_DISCARDED: /* a person's decision about a plan that passed, unless it had none */
		return run->stage != STAGE_NONE && run->stage >= STAGE_PLAN ? REPORT_SUCCESS : REPORT_FAILURE;
	case RUN_POLICY_OVERRIDE:
	case RUN_POLICY_SOFT_FAILED:
		return scope == REPORT_PLAN ? REPORT_SUCCESS : REPORT_FAILURE;
	case RUN_PLANNED_AND_FINISHED:
		return run->tests_failed ? REPORT_FAILURE : REPORT_SUCCESS;
	case RUN_PLANNED_AND_SAVED:
	case RUN_APPLIED:
		return REPORT_SUCCESS;
	case RUN_PLANNED:
	case RUN_POST_PLAN_COMPLETED:
	case RUN_COST_ESTIMATED:
	case RUN_POLICY_CHECKED:
		return scope != REPORT_PLAN && stage_follows(run, REPORT_CHECK_STAGES) ? REPORT_PENDING
										       : REPORT_SUCCESS;
	default:
		return is_past(run, scope) ? REPORT_SUCCESS : REPORT_PENDING;
	}
}

/* ---- all runs of a commit ---- */

static const char *const one_ends[REPORT_STATES] = {[REPORT_SUCCESS] = "passed",
	[REPORT_PENDING] = "is not complete",
	[REPORT_ERROR] = "was lost",
	[REPORT_FAILURE] = "failed"};

static enum report_state worst(const struct report_counts *counts)
{
	for (int state = REPORT_STATES - 1; state > REPORT_PENDING; state--)
		if (counts->count[state])
			return (enum report_state)state;
	if (counts->broken)
		return REPORT_ERROR;
	return counts->count[REPORT_PENDING] || counts->undecided || counts->unapproved ? REPORT_PENDING
											: REPORT_SUCCESS;
}

static void describe_runs(const struct report_counts *counts, enum report_state state, long long all,
	char description[REPORT_DESCRIPTION_SIZE])
{
	const char *workspace = text_or_empty(counts->workspace[state]), *what = counts->applies ? "applies" : "plans";

	if (all == 1)
		snprintf(description, REPORT_DESCRIPTION_SIZE, "The %s %s: %s", counts->applies ? "apply" : "plan",
			one_ends[state], workspace);
	else if (state == REPORT_SUCCESS)
		snprintf(description, REPORT_DESCRIPTION_SIZE, "All %lld %s passed", all, what);
	else if (state == REPORT_PENDING)
		snprintf(description, REPORT_DESCRIPTION_SIZE, "%lld of %lld %s passed", counts->count[REPORT_SUCCESS],
			all, what);
	else
		snprintf(description, REPORT_DESCRIPTION_SIZE, "%lld of %lld %s %s, such as %s", counts->count[state],
			all, what, state == REPORT_FAILURE ? "failed" : "were lost", workspace);
}

enum report_state report_sum(const struct report_counts *counts, char ret_description[REPORT_DESCRIPTION_SIZE])
{
	enum report_state state = worst(counts);
	long long all = 0;

	for (int i = 0; i < REPORT_STATES; i++)
		all += counts->count[i];
	if (all && counts->count[state])
		describe_runs(counts, state, all, ret_description);
	else
		text_copy(ret_description, REPORT_DESCRIPTION_SIZE,
			state == REPORT_ERROR             ? "The commit could not be processed"
				: state == REPORT_SUCCESS ? "No workspace is affected"
				: counts->unapproved      ? "Waits for a user's approval"
							  : "The affected workspaces are being determined");
	return state;
}
