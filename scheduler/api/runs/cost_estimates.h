/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_COST_ESTIMATES_H
#define SCHEDULER_API_RUNS_COST_ESTIMATES_H

#include "scheduler/api/api.h"

/* A row of cost_estimate_view as a resource. A new reference. */
json_t *cost_estimate_resource(const struct rows *rows, int row);

#endif
