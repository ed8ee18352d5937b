/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INTERNAL_RUN_TOKENS_H
#define SCHEDULER_API_INTERNAL_RUN_TOKENS_H

#include "scheduler/api/api.h"

/* ERR_NOT_FOUND unless the route accepts a run's own token (auth/run_token.h). may() then checks the place. */
int run_token_check(const struct request *req, struct err *err);

#endif
