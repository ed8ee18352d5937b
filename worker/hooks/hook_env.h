/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_HOOKS_HOOK_ENV_H
#define WORKER_HOOKS_HOOK_ENV_H

/* The file that TFC_AGENT_ENV names: a line KEY=value for each variable that a hook sets for the engine's commands that
 * follow. Pure. */

#include "common/buf.h"
#include "worker/engine/variables.h"

struct err;

enum { HOOK_ENV_LIMIT = 64 * 1024 };

/* Sets the variables of the file's content. ERR_INVALID with the number of the line; the message has no value. */
int hook_env_read(struct bytes content, struct texts *env, struct err *err);

#endif
