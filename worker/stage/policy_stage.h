/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_STAGE_POLICY_STAGE_H
#define WORKER_STAGE_POLICY_STAGE_H

/* What the steps of the policy stages share. For stage/policy*.c alone. */

#include "common/err.h"
#include "worker/exec/bounded.h"
#include "worker/exec/variables.h"
#include "worker/job.h"
#include "worker/policy/evaluator.h"

struct policy_stage {
	struct job *job;
	const struct evaluator *evaluator;
	char *program; /* path, or NULL */
	char why[300]; /* there is nothing to evaluate with; or "" */
	char *said;    /* what the program said that it can do, or NULL */
	struct policy_sets sets;
	json_t *run;
	size_t set, policy; /* the one that is evaluated, or is next */
	int64_t begun_ms;
	struct err err; /* of the work in a thread */
};

/* One run of the evaluator's program. */
struct trial {
	const char *below;  /* root of what it sees, below the job's root */
	const char *folder; /* to start in, below that */
	struct texts args;
	size_t most_out;
	void (*done)(void *data, const struct bounded_result *result);
};

/* Starts it as the job's child. -1 with *err: `done` is not called then. */
int trial_start(struct policy_stage *stage, const struct trial *trial, struct err *err);

/* policy_evaluate.c: one policy after another. */
void step_evaluate(struct job *job);

#endif
