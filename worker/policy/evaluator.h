/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_EVALUATOR_H
#define WORKER_POLICY_EVALUATOR_H

/*
 * The contract between the stages of policies (stage/policy) and a program that evaluates one kind of them (README.md
 * in this folder says what the programs are given and how their answers are read).
 *
 * For each policy the program runs once, in a sandbox that shows the policy's set and what is shared of the run, both
 * read-only, and no network; within a time, an amount of memory and an amount of output. Whatever it does, the worst
 * that comes of it is that this policy is errored.
 */

#include "worker/policy/sets.h"

struct texts;

/* How a program ended. */
struct evaluated {
	int code;                 /* its exit code; -1: a signal killed it */
	const char *out, *errors; /* what it wrote, up to a bound */
	size_t out_len;
};

enum verdict { VERDICT_PASSED, VERDICT_FAILED, VERDICT_ERRORED, VERDICT_AGAIN };

struct judgement {
	enum verdict verdict; /* VERDICT_AGAIN: something was learned of the set, the policy is to be evaluated again */
	char reason[1024];    /* VERDICT_ERRORED: a sentence */
	json_t *says;         /* an array of texts for people: violations, what the policy printed; owned */
};

void judgement_release(struct judgement *judgement);

/* What all sets of a job share. */
struct shared {
	int root;           /* descriptor of the job's folder; files go below shared/ */
	int plan;           /* descriptor of the plan as JSON */
	const json_t *run;  /* as policies know it (sets.h) */
	const char *limits; /* what the program said about itself, if it was asked; or NULL */
};

struct evaluator {
	const char *name;          /* "opa": of the stage and in metrics */
	const char *configuration; /* of an archive: "policies.hcl" */
	bool json_too;             /* the same with .json */
	const char *single;        /* where a single policy goes, after its name: ".sentinel" */
	size_t most_out;           /* bytes that it may write to standard output */
	bool needs_query;          /* it is pointed at a folder and asked a query; else at a file */
	const char *const *levels; /* of enforcement; NULL ends them */

	/* What the program is pointed at for a policy of an archive: a new text. */
	char *(*place)(const struct policy_set *set, const char *name, const char *source);
	/* In a thread, once a job: writes what the sets share. -1 with the reason. */
	int (*share)(const struct shared *shared, struct err *err);
	/* In a thread, after the set's policies are in their place: adds what the program needs. An error is the set's.
	 */
	int (*lay_out)(const struct shared *shared, const struct policy_set *set, struct err *err);
	/* The program's arguments. Returns the folder it starts in, below the set's; borrowed. */
	const char *(*arguments)(const struct policy_set *set, const struct policy *policy, struct texts *args);
	void (*judge)(struct policy_set *set, const struct policy *policy, const struct evaluated *evaluated,
		struct judgement *ret_judgement);
};

extern const struct evaluator evaluator_opa;
extern const struct evaluator evaluator_sentinel;

/* shared/<name>, written anew. -1 with ERR_INTERNAL. */
int shared_create(const struct shared *shared, const char *name, struct err *err);
/* Shows a file of shared/ in the set's folder, under `path`. */
int shared_link(
	const struct shared *shared, const struct policy_set *set, const char *name, const char *path, struct err *err);

#endif
