/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_POLICIES_POLICY_SETS_H
#define SCHEDULER_API_POLICIES_POLICY_SETS_H

#include "scheduler/api/api.h"
#include "scheduler/store/policies/policy_sets.sql.h"

/* The policy set in the path's `:set`, if the actor has the route's permission: set_of(&rows). ERR_NOT_FOUND. */
int policy_set_in_path(const struct request *req, struct rows *ret_rows, struct err *err);
#define set_of(rows) row_of(policy_set, rows, 0)

#endif
