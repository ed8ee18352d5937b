/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_POLICY_STAGE_H
#define WORKER_STAGE_POLICY_STAGE_H

/*
 * The stages `opa` and `sentinel`: state and functions that their steps share. Only for stage/policy*.c.
 *
 * The stages evaluate each policy of the run's policy sets on the plan, one after another, each in a program of its own
 * (policy/evaluator.h). Their log is not an engine's log: the scheduler gets the outcomes only by PUT policy-results.
 */

#include "common/err.h"
#include "worker/engine/variables.h"
#include "worker/exec/bounded.h"
#include "worker/policy/evaluator.h"
#include "worker/policy/sets.h"
#include "worker/runtime/job.h"

struct policy_stage {
	struct job *job;
	const struct evaluator *evaluator;
	char *program; /* path, or NULL */
	char why[300]; /* why no policy can be evaluated; or "" */
	char *said;    /* the program's description of its capabilities, or NULL */
	struct policy_sets sets;
	json_t *run;
	size_t set, policy; /* the current or next policy */
	int64_t begun_ms;
	struct err err; /* error of the work in a thread */
};

/* One run of the evaluator's program. */
struct trial {
	const char *below;  /* root of the program's view, below the job's root */
	const char *folder; /* working directory, below that */
	struct texts args;
	size_t max_out;
	void (*done)(void *data, const struct bounded_result *result);
};

/* Starts the program as the job's child. -1 with *err: `done` is not called then. */
int trial_start(struct policy_stage *stage, const struct trial *trial, struct err *err);

/* policy_evaluate.c: one policy after another. */
void step_evaluate(struct job *job);

#endif
