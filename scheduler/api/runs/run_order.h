/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_RUN_ORDER_H
#define SCHEDULER_API_RUNS_RUN_ORDER_H

#include "scheduler/api/api.h"
#include "scheduler/runs/order.h"

/* Reads a new run from the body, without its workspace. Texts and lists are borrowed from the body. ERR_INVALID with a
 * pointer. */
int run_order_read(const struct request *req, struct run_order *ret_order, struct err *err);

#endif
