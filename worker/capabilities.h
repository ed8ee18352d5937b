/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_CAPABILITIES_H
#define WORKER_CAPABILITIES_H

/*
 * The capabilities of this worker (proto/capabilities.h). It sends them with its registration, each claim and each
 * heartbeat, so an engine that is installed later counts with the next heartbeat.
 *
 * A plan and an apply need an engine, the stage opa the program of --opa, the stage sentinel that of --sentinel. An
 * estimate needs nothing that has to be installed; a worker without an engine makes estimates only if --price-books or
 * --infracost is set. A worker that can run nothing claims nothing and is not ready.
 */

#include "common/json.h"
#include "common/loop.h"

struct worker;

/* Looks at what is installed, then calls fn (NULL: nothing to call); perhaps before this returns. */
void capabilities_look(struct worker *worker, loop_work_fn fn, void *data);
/* A new reference to the array that the last look has made. */
json_t *capabilities_now(const struct worker *worker);
/* The same as text, or "none". The caller frees it. */
char *capabilities_text(const struct worker *worker);

#endif
