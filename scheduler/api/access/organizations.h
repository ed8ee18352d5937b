/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_ORGANIZATIONS_H
#define SCHEDULER_API_ACCESS_ORGANIZATIONS_H

#include "scheduler/api/api.h"

/* A row of store/access/organizations.h as a resource. */
json_t *organization_resource(const struct rows *rows, int row);

#endif
