/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SERVER_SCOPED_TOKENS_H
#define SCHEDULER_API_SERVER_SCOPED_TOKENS_H

#include "scheduler/http/request.h"

/* Whether the route accepts the actor's token, if that is scoped (auth/tokens.h): ERR_FORBIDDEN for a change with a
 * token that only reads, ERR_NOT_FOUND for a route of more than one workspace. may() then checks the place. */
int scoped_token_check(const struct request *req, struct err *err);

#endif
