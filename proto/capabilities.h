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
 *
 * A job's needs are one text.
 *
 *     "engine ~> 1.11.0", "engine "         a plan: an engine that fits what the workspace asks for (version.h)
 *     "terraform 1.11.4", "tofu 1.10.6"     an apply, or a plan that runs again: the engine that planned
 *     "opa", "sentinel", "cost"             the job's stage
 *     ""                                    an earlier scheduler created the job: any worker may try
 */

#include "common/buf.h"
#include "common/json.h"
#include "proto/version.h"

/* The program names of the engines. */
extern const char *const engine_terraform, *const engine_tofu;

/* An engine and an exact version. */
struct engine_choice {
	const char *engine; /* engine_terraform, engine_tofu, or NULL: the job needs none */
	char version[sizeof(((struct version *)0)->text)];
};

/* Whether the needs can be met, and by which engine: of the engines that fit a constraint the newest, of those that fit
 * any version the preferred one. An engine is downloaded only for one exact version. */
bool capabilities_meet(const json_t *capabilities, const char *needs, struct engine_choice *ret_choice);
/* Whether the needs name an engine. */
bool needs_engine(const char *needs);
/* Whether the worker has or downloads an engine. */
bool capabilities_engine(const json_t *capabilities);

/* The capabilities that a worker may use for a job with these needs. If the needs leave the version open, the engines
 * of the `disabled` versions (an array of texts) are left out. A new reference; NULL and null stay as they are. */
json_t *capabilities_allowed(const json_t *capabilities, const char *needs, const json_t *disabled);

enum job_fit {
	JOB_FITS,    /* the worker that asks gets it */
	JOB_WAITS,   /* it is left to another worker of the pool */
	JOB_REFUSED, /* no worker of the pool can run it: its run ends */
};

/* Decides on a waiting job. `own`: the capabilities of the worker that asks; NULL: it is of an earlier version, and
 * gets what it asks for. `others`: an array of those of the pool's other live workers; null in it is such a version's.
 *
 * A plan or an apply that needs an engine is refused by a worker that has an engine. In a pool without any engine it
 * waits. A policy or an estimate that no worker can make goes to any worker, whose result says what is missing. */
enum job_fit capabilities_judge(
	const json_t *own, const json_t *others, const char *needs, struct engine_choice *ret_choice);

/* Why a job that needs an engine can't run, as a sentence for people. `who`: "no worker of its pool has", or "this
 * worker lacks". `engines`: the capabilities that there are. */
void capabilities_refusal(const char *needs, const char *who, const json_t *engines, struct buf *out);

#endif
