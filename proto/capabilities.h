/* SPDX-License-Identifier: MPL-2.0 */
#ifndef PROTO_CAPABILITIES_H
#define PROTO_CAPABILITIES_H

/*
 * The capabilities of workers and the needs of jobs, and which of them fit. Pure.
 *
 * A worker's capabilities are an array of texts. The engine that the worker prefers comes first.
 *
 *     "terraform 1.11.4", "tofu 1.10.6"     an engine that it has
 *     "download terraform", "download tofu" an engine that it downloads by exact version
 *     "opa", "sentinel", "cost"             it evaluates policies of that kind, or estimates costs
 *     "identity"                            it gives the programs of a run the credentials that its job document lists
 *     "no plan", "no apply", "no opa"...    it takes no jobs of that stage (--accept), whatever else it has
 *     "no assessment"                       it takes no plans for health assessments
 *     "query", "no query"                   it makes queries (terraform query), or takes none
 *     "test", "no test"                     it tests modules (terraform test), or takes no test runs
 *     "provider-sets"                       it puts configurations of providers into those of no-code workspaces; a job
 *                                           with such sets fails on any other worker
 *     "forward"                             it sends requests to services of its network; no job needs this
 *
 * A job's needs are one text.
 *
 *     "engine ~> 1.11.0", "engine "         a plan: an engine that fits what the workspace asks for (version.h)
 *     "terraform 1.11.4", "tofu 1.10.6"     an apply, or a plan that runs again: the engine that planned
 *     "query engine ~> 1.14.0", "query terraform 1.14.8"
 *                                           the same, and a query: a worker that makes queries, and terraform 1.14 or
 *                                           later. OpenTofu has no such command
 *     "test engine ", "test tofu 1.10.6"    the same, and a test run: a worker that tests modules, and an engine 1.6 or
 *                                           later
 *     "opa", "sentinel", "cost"             the job's stage
 *     ""                                    an earlier scheduler created the job: any worker may try
 */

#include "common/buf.h"
#include "common/json/json.h"
#include "proto/version.h"

/* The program names of the engines. */
extern const char *const engine_terraform, *const engine_tofu;
extern const char *const capability_identity,
	*const capability_forward, *const capability_provider_sets, *const capability_query, *const capability_test;

/* The beginning of a capability that refuses a stage: "no ". */
extern const char capability_refusal[];

/* An engine and an exact version. */
struct engine_choice {
	const char *engine; /* engine_terraform, engine_tofu, or NULL: the job needs none */
	char version[sizeof(((struct version *)0)->text)];
};

/* Returns false if `wanted` is one exact version, and it has no `terraform query`. The version of a constraint is only
 * chosen when a worker claims the job. */
bool version_has_query(const char *wanted);
/* Returns true if the needs can be met, and by which engine. NULL and null are a worker of an earlier version, which
 * gets any job but queries and test runs. Of the engines that fit a constraint, the newest is chosen; if any version
 * fits, the preferred engine. An engine is downloaded only for one exact version. */
bool capabilities_meet(const json_t *capabilities, const char *needs, struct engine_choice *ret_choice);
/* Returns true if the worker takes no jobs of the stage. False for NULL and null. */
bool capabilities_refuse(const json_t *capabilities, const char *stage);
/* Returns true if the needs name an engine. */
bool needs_engine(const char *needs);
/* Returns true if the worker has or downloads an engine. */
bool capabilities_engine(const json_t *capabilities);

/* Returns the capabilities that a worker may use for a job with these needs. If the needs leave the version open, the
 * engines of the `disabled` versions (an array of texts) are left out. A new reference; NULL and null are returned as
 * they are. */
json_t *capabilities_allowed(const json_t *capabilities, const char *needs, const json_t *disabled);

enum job_fit {
	JOB_FITS,    /* the requesting worker gets it */
	JOB_WAITS,   /* it is left to another worker of the pool */
	JOB_REFUSED, /* no worker of the pool can run it: its run ends */
};

/*
 * Decides on a waiting job. `own`: the capabilities of the requesting worker. `others`: an array with the capabilities
 * of the pool's other live workers that take jobs of the stage.
 *
 * A job that needs an engine is refused only if the requesting worker has an engine and no live worker can run the job.
 * So in a pool without any engine it waits. A policy or an estimate that no worker can make goes to any worker that
 * takes such jobs, whose result says what is missing.
 */
enum job_fit capabilities_judge(
	const json_t *own, const json_t *others, const char *needs, struct engine_choice *ret_choice);

/* Appends the reason why a job that needs an engine cannot run, as a sentence for users. `who`: "no worker of its pool
 * has", or "this worker lacks". `engines`: the available capabilities. */
void capabilities_refusal(const char *needs, const char *who, const json_t *engines, struct buf *out);

#endif
