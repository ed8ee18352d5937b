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
	int schemas;   /* the file of the provider schemas, or -1 */
	struct policy_sets sets;
	json_t *run;
	size_t set, policy; /* the current or next set (also of the steps before), and policy */
	int64_t begun_ms;
	struct err err; /* error of the work in a thread */
};

/* One run of the evaluator's program. */
struct trial {
	const char *below;  /* root of the program's view, below the job's root */
	const char *folder; /* working directory, below that */
	const char *program;
	struct texts args;
	bool offline; /* it has no network */
	size_t max_out;
	void (*done)(void *data, const struct bounded_result *result);
};

/* Starts the program as the job's child. -1 with *err: `done` is not called then. */
int trial_start(struct policy_stage *stage, const struct trial *trial, struct err *err);

/* The data that the sets share. */
struct shared policy_shared(const struct policy_stage *stage);
/* Ends a work in a thread: fails the job if the stage has an error. */
void policy_work_ended(void *data);

/* policy_program.c: finds the program of each set, asks it for its capabilities, and limits it. */
void step_find_programs(struct job *job);
void step_ask(struct job *job);
void step_limit(struct job *job);
/* The program that evaluates a set, or NULL with the reason in *ret_why. Borrowed. */
const char *policy_program(const struct policy_stage *stage, const struct policy_set *set, const char **ret_why);

/* policy_evaluate.c: one policy after another. */
void step_evaluate(struct job *job);

#endif
