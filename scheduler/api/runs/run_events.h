/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_RUNS_RUN_EVENTS_H
#define SCHEDULER_API_RUNS_RUN_EVENTS_H

#include "scheduler/api/api.h"

/* A row of store/runs/run_events.h as a comment. */
json_t *comment_resource(const struct rows *rows, int row);

#endif
