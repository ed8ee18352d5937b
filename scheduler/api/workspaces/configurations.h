/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_WORKSPACES_CONFIGURATIONS_H
#define SCHEDULER_API_WORKSPACES_CONFIGURATIONS_H

#include "scheduler/api/api.h"

/* A row of store/workspaces/configurations.h as a resource. */
json_t *configuration_resource(const struct rows *rows, int row);

#endif
