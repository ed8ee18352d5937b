/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_RUNTIME_CAPABILITIES_H
#define WORKER_RUNTIME_CAPABILITIES_H

/*
 * The capabilities of this worker (proto/capabilities.h). The worker sends them with its registration, each claim and
 * each heartbeat, so an engine that is installed later is announced by the next heartbeat.
 *
 *  - A plan and an apply need an engine.
 *  - The stage opa needs the program of --opa, or --opa-mirror, the stage sentinel that of --sentinel. Without that
 * option, a worker that has an engine or opa evaluates Sentinel-language policies by runyard-policy.
 *  - Dynamic credentials need runyard-vault, which is installed with the worker.
 *  - A cost estimate needs no installed program. A worker without an engine makes estimates only if --price-books or
 *    --infracost is set.
 *
 * A worker that can run nothing claims nothing and is not ready.
 */

#include "common/json/json.h"
#include "common/loop/loop.h"

struct worker;

/* Detects what is installed and sets the worker's `capabilities`, then calls fn (NULL: no call), possibly before this
 * function returns. */
void capabilities_look(struct worker *worker, loop_work_fn fn, void *data);
/* The worker's capabilities as text, or "none". The caller frees it. */
char *capabilities_text(const struct worker *worker);

#endif
