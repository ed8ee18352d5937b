/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_MEMBERSHIPS_H
#define SCHEDULER_API_ACCESS_MEMBERSHIPS_H

#include "scheduler/api/api.h"

/* A row of store/access/memberships.h as a resource. */
json_t *membership_resource(const struct rows *rows, int row);

#endif
