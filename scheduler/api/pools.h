/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_POOLS_H
#define SCHEDULER_API_POOLS_H

#include "scheduler/api/api.h"

/* Rows of store/pools.h and store/agents.h. */
json_t *pool_resource(const struct rows *rows, int row);
json_t *agent_resource(const struct rows *rows, int row);
/* `:pool`, and the actor may do there what the route says. A row of store/pools.h. */
int pool_in_path(struct request *req, struct rows *ret_rows, struct err *err);

#endif
