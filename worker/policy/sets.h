/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_POLICY_SETS_H
#define WORKER_POLICY_SETS_H

/*
 * The policy sets of a run as the scheduler gives them (proto/README, Policies), and how they lie in the job's folder:
 *
 *     root/shared/        what every set reads of the run: the plan, the run, in the evaluator's form
 *     root/sets/<n>/      one set; all that its evaluations see, as /job and read-only
 *         policies/       its policies: the archive as it is, or its single policies
 *         ...             what the evaluator adds (evaluator.h); links to shared/
 */

#include "common/json.h"

struct evaluator;

struct policy {
	const char *name;
	const char *query; /* OPA's; or NULL */
	const char *enforcement;
	const char *description;
	char *place; /* what the program is pointed at, as seen from where it starts (evaluator.h) */
};

struct policy_set {
	const json_t *source;
	const char *id, *name;
	const char *tool_version; /* or "" */
	const json_t *parameters; /* [{"key": …, "value": …}] */
	bool overridable;
	bool archived;
	char *folder;   /* "sets/0", below the job's root */
	char *base;     /* "policies", or the folder of the archive that its configuration is in; below `folder` */
	json_t *blocks; /* of an archive's configuration (blocks.h), or NULL */
	char *text;     /* that configuration as it is, or NULL */
	struct policy *policies;
	size_t count;
	char error[512];    /* why it can't be evaluated at all, or "" */
	bool limited;       /* it may want what the program has to be kept from (evaluator.h) */
	bool old;           /* OPA: its language turned out to be the one before OPA 1... */
	char unparsed[512]; /* ...since this came of it otherwise */
	json_t *outcomes;   /* what came of each policy so far, in their order (report.h) */
};

struct policy_sets {
	json_t *source; /* owned; what follows points into it */
	const json_t *run;
	struct policy_set *sets;
	size_t count;
};

/* Takes a reference to the document. ERR_MALFORMED. */
int policy_sets_read(json_t *document, struct policy_sets *ret_sets, struct err *err);
void policy_sets_release(struct policy_sets *sets);

/* Makes a set's folder below `root` and puts its policies there. What is wrong with the set itself ends in its `error`.
 * ERR_INTERNAL. */
int policy_set_unpack(int root, const struct evaluator *evaluator, struct policy_set *set, struct err *err);

/* A parameter's value as Sentinel's command line takes it: a JSON number, array or object; else the text. A new
 * reference. */
json_t *parameter_value(const char *text);

#endif
