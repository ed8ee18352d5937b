/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_SETS_H
#define WORKER_POLICY_SETS_H

/*
 * Policy sets of a run as the scheduler sends them (proto/README, Policies), and their layout in the job's folder:
 *
 *     root/shared/        the run's data for all sets: the plan and the run, in the evaluator's form
 *     root/sets/<n>/      one set: all that its evaluations see, as /job and read-only
 *         policies/       its policies: the unpacked archive, or its single policies
 *         ...             files of the evaluator (evaluator.h); links to shared/
 */

#include "common/json/json.h"

struct evaluator;

struct policy {
	const char *name;
	const char *query; /* OPA's query, or NULL */
	const char *enforcement;
	const char *description;
	char *place; /* path for the program, relative to its working directory (evaluator.h) */
};

struct policy_set {
	const json_t *source;
	const char *id, *name;
	const char *tool_version; /* or "" */
	const json_t *tool_archs; /* [{"arch", "url", "sha"}]: where that version can be had; or NULL */
	const json_t *parameters; /* [{"key", "value", "sensitive"}] */
	bool overridable;
	bool archived;
	char *folder;   /* "sets/0", below the job's root */
	char *base;     /* "policies", or the folder of the archive's configuration; below `folder` */
	json_t *blocks; /* of an archive's configuration (common/hcl/blocks.h), or NULL */
	char *text;     /* the text of that configuration, or NULL */
	struct policy *policies;
	size_t count;
	char error[512];    /* why the set can't be evaluated at all, or "" */
	char why[512];      /* why none of its policies can be evaluated, or "" */
	char *program;      /* path of its evaluator's program; NULL: the stage's */
	char *said;         /* that program's description of its capabilities, or NULL */
	bool early;         /* OPA: the program is older than OPA 1 */
	bool offline;       /* its policies have no network */
	bool limited;       /* it may use functions that the program has to be denied (evaluator.h) */
	bool reads_schemas; /* a policy reads the provider schemas... */
	bool has_schemas;   /* ...which are in the set's folder */
	bool old;           /* OPA: it is evaluated in the language before OPA 1... */
	char unparsed[512]; /* ...because OPA 1 gave this error */
	json_t *outcomes;   /* outcomes of the policies so far, in their order (report.h) */
};

struct policy_sets {
	json_t *source; /* owned; the pointers below point into it */
	const json_t *run;
	struct policy_set *sets;
	size_t count;
};

/* Takes a reference to the document. ERR_MALFORMED. */
int policy_sets_read(json_t *document, struct policy_sets *ret_sets, struct err *err);
void policy_sets_release(struct policy_sets *sets);

/* Makes a set's folder below `root` and unpacks its policies into it. A defect of the set itself goes to its
 * `error`. ERR_INTERNAL. */
int policy_set_unpack(int root, const struct evaluator *evaluator, struct policy_set *set, struct err *err);

/* Parses a parameter's value for OPA: a JSON number, array or object; otherwise a text, with its quotes. A new
 * reference. */
json_t *parameter_value(const char *text);

#endif
