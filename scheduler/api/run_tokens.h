/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUN_TOKENS_H
#define SCHEDULER_API_RUN_TOKENS_H

#include "scheduler/api/api.h"

/* Whether this is something to ask for with a run's own token (auth/run_token.h) at all; else ERR_NOT_FOUND. Where it
 * may be asked for, may() says. */
int run_token_check(const struct request *req, struct err *err);

#endif
