/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_EVALUATOR_H
#define WORKER_POLICY_EVALUATOR_H

/*
 * The interface between the policy stages (stage/policy) and a program that evaluates one kind of policies. README.md
 * in this folder describes the input and the output of these programs.
 *
 * The program runs once for each policy, in a sandbox, by default without a network. The sandbox shows the policy's set
 * and the run's shared data, both read-only. Time, memory and output are limited. If the program misbehaves, only its
 * policy is errored.
 */

#include "common/json/json.h"

struct err;
struct policy;
struct policy_set;
struct texts;

/* Output and exit status of one program. */
struct evaluated {
	int code;                 /* exit code; -1: a signal killed it */
	const char *out, *errors; /* the program's output, up to a limit */
	size_t out_len;
};

enum verdict { VERDICT_PASSED, VERDICT_FAILED, VERDICT_ERRORED, VERDICT_AGAIN };

/* One policy to evaluate, and its limits. Borrowed. */
struct evaluation {
	const struct policy_set *set;
	const struct policy *policy;
	int64_t max_ms, memory; /* the program is stopped at these: milliseconds, bytes */
	const char *http_hosts; /* --policy-http-hosts */
};

struct judgement {
	enum verdict verdict; /* VERDICT_AGAIN: the set was changed, and the policy is to be evaluated again */
	char reason[1024];    /* VERDICT_ERRORED: the reason, one sentence */
	json_t *says;         /* array of texts for users: violations and the policy's own output; owned */
};

void judgement_release(struct judgement *judgement);

/* Data that all sets of a job share. */
struct shared {
	int root;               /* descriptor of the job's folder; shared files are below shared/ */
	int plan;               /* descriptor of the plan's JSON */
	const json_t *run;      /* the run in the form for policies (sets.h) */
	bool offline;           /* policies have no network */
	const char *http_hosts; /* hosts that Sentinel-language policies may send requests to; "": none */
};

struct evaluator {
	const char *name;          /* "opa": name of the stage and label of metrics */
	const char *configuration; /* name of an archive's configuration: "policies.hcl" */
	bool json_too;             /* a configuration in JSON (.json) is accepted too */
	const char *single;        /* suffix of a single policy's file: ".sentinel" */
	size_t max_out;            /* limit of standard output in bytes */
	bool needs_query;          /* policies are a folder and a query; false: a file */
	bool prints_out;           /* standard output is for users; false: it is the program's answer */
	bool limits_itself;        /* it limits its own memory: its address space, with mapped files, is not limited */
	const char *const *levels; /* enforcement levels, ended by NULL */

	/* The path that the program gets for a policy of an archive: a new text. */
	char *(*place)(const struct policy_set *set, const char *name, const char *source);
	/* Writes the data that the sets share. In a thread, once per job. -1 with the reason. */
	int (*share)(const struct shared *shared, struct err *err);
	/* Adds what the program needs to a set whose policies are unpacked. In a thread. A failure is an error of
	 * the set. */
	int (*lay_out)(const struct shared *shared, struct policy_set *set, struct err *err);
	/* Or NULL. Makes the arguments that ask the program for its capabilities. Used if a set is `limited`. */
	void (*ask)(struct texts *args);
	/* Writes limits for such a set, given the program's answer `said`. In a thread. */
	int (*limit)(const struct shared *shared, const struct policy_set *set, struct err *err);
	/* Makes the program's arguments. Returns its working directory, below the set's folder; borrowed. */
	const char *(*arguments)(const struct evaluation *evaluation, struct texts *args);
	void (*judge)(struct policy_set *set, const struct policy *policy, const struct evaluated *evaluated,
		struct judgement *ret_judgement);
};

#define SHARED_SCHEMAS "schemas.json" /* the provider schemas, below shared/ and in the sets that read them */

extern const struct evaluator evaluator_opa;
/* Both evaluate Sentinel-language policies: by the program of --sentinel, and by runyard-policy. */
extern const struct evaluator evaluator_sentinel;
extern const struct evaluator evaluator_runyard_policy;

/* Creates the file shared/<name>, which must not exist yet. Returns its descriptor, or -1 with ERR_INTERNAL. */
int shared_create(const struct shared *shared, const char *name, struct err *err);
/* Appends the plan to a file. */
int shared_copy_plan(const struct shared *shared, int to, struct err *err);
/* Links a file of shared/ into the set's folder as `path`. */
int shared_link(
	const struct shared *shared, const struct policy_set *set, const char *name, const char *path, struct err *err);

#endif
