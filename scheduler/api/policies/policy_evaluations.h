/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_POLICIES_POLICY_EVALUATIONS_H
#define SCHEDULER_API_POLICIES_POLICY_EVALUATIONS_H

#include "scheduler/api/api.h"

/* The evaluations of a run, as an array. */
int policy_evaluations_of_run(struct store *store, const char *run_id, json_t **ret_evaluations, struct err *err);

#endif
