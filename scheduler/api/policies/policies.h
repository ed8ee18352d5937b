/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_POLICIES_POLICIES_H
#define SCHEDULER_API_POLICIES_POLICIES_H

#include "scheduler/api/api.h"

/* ERR_INVALID at /data/attributes/kind unless the kind is supported. */
int policy_kind_check(const char *kind, struct err *err);

#endif
