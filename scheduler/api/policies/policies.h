/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_POLICIES_POLICIES_H
#define SCHEDULER_API_POLICIES_POLICIES_H

#include "scheduler/api/api.h"

/* A row of store/policies/policies.h as a resource. */
json_t *policy_resource(const struct rows *rows, int row);
/* ERR_INVALID at /data/attributes/kind unless the kind is supported. */
int policy_kind_check(const char *kind, struct err *err);

#endif
